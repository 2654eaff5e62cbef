import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { ErrorCode, isCodedError, MillraceClient } from "@millrace/client";
import { SeededRandom } from "@millrace/testkit";
import type { TopicHistory } from "../oracle/topic-history.ts";
import { asViolation, Violation } from "../oracle/violation.ts";
import { type ServerPlace, ServerProcess } from "../server/server-process.ts";
import { TortureRun } from "../torture-run.ts";
import type { Reader } from "../verify/read-partition.ts";
import { STREAM } from "../workload.ts";
import { applyDamage, chooseDamage, type Damage, describeDamage, filesBelow } from "./damage.ts";
import { type Expectation, expectOfMetadata, expectOfSegment } from "./expectation.ts";
import { checkFound, judgeOffset, readDamaged } from "./judge-damaged.ts";
import { type SegmentContent, segmentContents } from "./segment-content.ts";

/** More than lie between two snapshots of the metadata, so that there is one. */
const METADATA_OPS = 300;
const PARTITION_FILE = /^streams\/0\/topics\/(\d+)\/partitions\/(\d+)-\d+\/[^/]+$/;
/** Files that a start writes although it is refused: they hold nothing that was sent. */
const OF_A_START = /^(logs|runtime)\/|^millrace\.lock/;

/** A server that has worked, and copies of its files that are damaged, started and compared. */
export class DamageRun {
  readonly #place: ServerPlace;
  readonly #server: ServerProcess;
  readonly #run: TortureRun;
  readonly #random: SeededRandom;
  #copiesCount = 0;

  constructor(place: ServerPlace, seed: number) {
    this.#place = place;
    this.#server = new ServerProcess(place);
    this.#random = new SeededRandom(seed);
    this.#run = new TortureRun(this.#server, seed);
  }

  /** Fills topics in `rounds` rounds that end with a kill, reads all of it, and ends the server. */
  async fill(rounds: number): Promise<string> {
    await this.#run.begin();
    await this.#run.changeMetadata(METADATA_OPS);
    for (let number = 1; number <= rounds; number += 1) await this.#run.round(number);
    const seenCount = await this.#run.verify(true);
    const isStopped = this.#random.fraction() < 0.5;
    if (isStopped) await this.#server.stop();
    else await this.#server.kill();
    return `${seenCount} messages, the server was ${isStopped ? "stopped" : "killed"}`;
  }

  /** Damages a copy, starts it twice, and answers what happened. Throws Violation. */
  async damageOnce(): Promise<string> {
    this.#copiesCount += 1;
    const folder = join(this.#place.folder, `damaged-${this.#copiesCount}`);
    const data = join(folder, "data");
    mkdirSync(folder);
    cpSync(join(this.#place.folder, "data"), data, { recursive: true });
    const damage = chooseDamage(this.#random, data);
    const expectation = this.#expect(damage, data);
    applyDamage(data, damage);
    const server = new ServerProcess({ ...this.#place, folder });
    const text = describeDamage(damage);
    try {
      const told = await this.#startTwice(server, data, damage, expectation);
      rmSync(folder, { recursive: true });
      return `${text}: ${told}`;
    } catch (error) {
      const { kind, message } = asViolation(error);
      throw new Violation(kind, `${text}\n  ${message}\n  data and log: ${folder}`, { cause: error });
    } finally {
      await server.kill();
    }
  }

  /** Ends the server, whatever it does. */
  end(): Promise<string> {
    return this.#server.kill();
  }

  #expect(damage: Damage, data: string): Expectation {
    const topic = this.#topicOf(damage);
    if (topic === undefined) return expectOfMetadata();
    const [, , partitionId = ""] = PARTITION_FILE.exec(damage.path) ?? [];
    const folder = join(data, damage.path, "..");
    const segments: SegmentContent[] = segmentContents(folder, topic.partition(Number(partitionId)));
    return expectOfSegment(damage, segments);
  }

  /** The topic whose file is damaged; nothing for the metadata. */
  #topicOf({ path }: Damage): TopicHistory | undefined {
    const [, topicId] = PARTITION_FILE.exec(path) ?? [];
    return topicId === undefined ? undefined : this.#run.knowledge.topics[Number(topicId)];
  }

  async #startTwice(
    server: ServerProcess,
    data: string,
    damage: Damage,
    expectation: Expectation,
  ): Promise<string> {
    const before = contents(data);
    const reason = await server.startOrRefuse();
    if (reason !== undefined) {
      checkRefusal(reason, damage, expectation);
      checkUntouched(before, contents(data));
      return "the start is refused";
    }
    const told = await this.#judge(server, damage, expectation);
    const sent = await this.#sendBehind(server, damage);
    await server.kill();
    await server.start();
    const again = await this.#judge(server, damage, expectation);
    if (again !== told) throw new Violation("lost", `at first ${told}; after another start ${again}`);
    return `${told}, ${sent}`;
  }

  async #judge(server: ServerProcess, damage: Damage, expectation: Expectation): Promise<string> {
    const client = await connect(server);
    const { topics, storers, content } = this.#run.knowledge;
    const reader: Reader = { client, stream: STREAM, content };
    const counts = { refused: 0, lost: 0 };
    for (const topic of topics) {
      for (const { partition } of topic.partitions) {
        const isHit = this.#isHit(damage, topic, partition);
        const found = await readDamaged(reader, topic, partition);
        const allowed = isHit ? expectation : expectOfMetadata();
        checkFound(`${topic.name}/${partition}`, found, allowed, server.log());
        counts.refused += found.refused.length;
        counts.lost += found.lost.length;
      }
    }
    for (const storer of storers) {
      const isHit = topics.some(
        (topic) => topic.name === storer.place.topic && this.#isHit(damage, topic, storer.place.partitionId),
      );
      await judgeOffset(reader, storer, isHit && expectation.mayDoubtOffsets);
    }
    await client.close();
    return `${counts.refused} batches refused, ${counts.lost} at the end lost`;
  }

  #isHit(damage: Damage, topic: TopicHistory, partitionId: number): boolean {
    const [, , id] = PARTITION_FILE.exec(damage.path) ?? [];
    return this.#topicOf(damage) === topic && Number(id) === partitionId;
  }

  /** What is sent to the damaged partition is refused, or gets an offset that nobody has seen. */
  async #sendBehind(server: ServerProcess, damage: Damage): Promise<string> {
    const topic = this.#topicOf(damage);
    if (topic === undefined) return "and served";
    const partition = Number(PARTITION_FILE.exec(damage.path)?.[2]);
    const client = await connect(server);
    try {
      const messages = [{ payload: "behind" }];
      const place = { stream: STREAM, topic: topic.name, partitioning: { partition }, messages };
      const [confirmation] = await client.sendMessages(place);
      const offset = Number(confirmation?.baseOffset);
      if (offset >= topic.partition(partition).end) return "and written behind";
      throw new Violation("reused", `${topic.name}/${partition}: ${offset} is given to a new message`);
    } catch (error) {
      if (!isCodedError(error, ErrorCode.PartitionDamaged)) throw error;
      return "and not written";
    } finally {
      await client.close();
    }
  }
}

function connect(server: ServerProcess): Promise<MillraceClient> {
  return MillraceClient.connect({
    address: server.address,
    username: "iggy",
    password: "iggy",
    reconnect: false,
    retrySends: false,
  });
}

/** A refused start names the damaged file. */
function checkRefusal(reason: string, { path }: Damage, { mayRefuseStart }: Expectation): void {
  if (mayRefuseStart && reason.includes(basename(path).split(".")[0] ?? "")) return;
  throw new Violation("server", `the start is refused: ${reason}`);
}

type Contents = ReadonlyMap<string, string>;

function contents(folder: string): Contents {
  const files = filesBelow(folder).filter((path) => !OF_A_START.test(path));
  return new Map(files.map((path) => [path, readFileSync(join(folder, path)).toString("latin1")]));
}

/** Whoever refuses to start changes nothing. */
function checkUntouched(before: Contents, after: Contents): void {
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    if (before.get(path) !== after.get(path))
      throw new Violation("lost", `a start that was refused changed ${path}`);
  }
}
