import { ErrorCode } from "@millrace/errors";
import {
  type CommandName,
  decodeRepairPartitionReply,
  decodeSendMessagesReply,
  encodeCreatePartitions,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeletePartitions,
  encodeDeleteSegments,
  encodeDeleteStream,
  encodeDeleteTopic,
  encodePurgeTopic,
  encodeRepairPartition,
  encodeSendMetadata,
  encodeStoreConsumerOffset,
  encodeUpdateStream,
  encodeUpdateTopic,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import type { SeededRandom } from "@millrace/testkit";
import { chooseOperation } from "../load/catalog-choice.ts";
import type { CatalogOperation } from "../oracle/catalog-state.ts";
import { Violation } from "../oracle/violation.ts";
import { poll, purgePartition, seeAll } from "./check-world.ts";
import type { DiskTrouble } from "./disk-trouble.ts";
import { NO_ANSWER, type SimClient } from "./sim-client.ts";
import { batchOf } from "./sim-content.ts";
import { SEGMENT_LENGTH, targetOf, type World, type WorldPartition, type WorldTopic } from "./world.ts";

/** Requests of one client on their way at once. */
const IN_FLIGHT_MAX = 8;
const BIG_MIN = 50_000;
const BIG_MAX = 300_000;
const SMALL_MAX = 3000;

/** What a refusal may be when the disk was in trouble. */
const TROUBLE_CODES: ReadonlySet<number> = new Set([
  ErrorCode.DiskFull,
  ErrorCode.FileFenced,
  ErrorCode.IoError,
  ErrorCode.TransientNotAccepted,
]);

/** Who works on a server, on what, and why requests may be refused. */
export interface Labour {
  readonly world: World;
  readonly random: SeededRandom;
  /** Sends, polls and stores, many at once; deletes, purges and changes the catalog, one at a time. */
  readonly producer: SimClient;
  readonly operator: SimClient;
  readonly trouble: DiskTrouble;
  /** Gives a name that was never used. */
  readonly freshName: () => string;
  /** Called with each thing that was answered. */
  readonly note: (line: string) => void;
  /** Called with a violation found behind an answer. */
  readonly fail: (error: unknown) => void;
}

/** Begins one thing that a client does; its outcome is judged when it comes. False when nothing was begun. */
export function begin(labour: Labour): boolean {
  const { random, producer, world } = labour;
  const partition = random.pick(world.partitions);
  const dice = random.below(100);
  if (dice >= 86) return beginOperation(labour, partition, dice);
  if (producer.inFlightCount >= IN_FLIGHT_MAX) return false;
  const { messages } = partition;
  if (messages.mayBePurged) return false;
  if (dice < 50) follow(labour, send(labour, partition));
  else if (dice < 66) follow(labour, pollSome(labour, partition));
  else follow(labour, store(labour, partition));
  return true;
}

function beginOperation(labour: Labour, partition: WorldPartition, dice: number): boolean {
  if (labour.operator.inFlightCount > 0) return false;
  if (dice >= 94) follow(labour, changeCatalog(labour));
  else if (dice >= 90) {
    if (partition.messages.mayBePurged) return false;
    follow(labour, deleteSegments(labour, partition));
  } else if (dice >= 88 || partition.isHarmed) follow(labour, repair(labour, partition));
  else {
    const { topic } = partition;
    // What is on its way beside a purge may come before or behind it.
    if (labour.producer.inFlightCount > 0 || topic.partitions.some(({ messages }) => messages.mayBePurged)) {
      return false;
    }
    follow(labour, purge(labour, topic));
  }
  return true;
}

function follow({ fail }: Labour, work: Promise<void>): void {
  work.catch(fail);
}

function lengthsOf(random: SeededRandom): number[] {
  if (random.below(6) === 0) return [BIG_MIN + random.below(BIG_MAX - BIG_MIN)];
  return Array.from({ length: 1 + random.below(4) }, () => 1 + random.below(SMALL_MAX));
}

async function send(labour: Labour, partition: WorldPartition): Promise<void> {
  const { messages, topic, id } = partition;
  const batch = messages.send(lengthsOf(labour.random));
  const bytes = batchOf(batch.first, batch.lengths);
  const metadata = encodeSendMetadata({
    ...targetOf(topic),
    partitioning: { kind: "partition", partitionId: id },
    messagesCount: batch.lengths.length,
  });
  const body = new Uint8Array(metadata.length + bytes.length);
  body.set(metadata);
  body.set(bytes, metadata.length);
  const { code, payload } = await labour.producer.command("SendMessages", body);
  const base = code === 0 ? decodeSendMessagesReply(payload)[0]?.baseOffset : undefined;
  labour.note(`${messages.name} batch ${batch.first}: code ${code}, offset ${base}`);
  if (code !== 0) {
    // A cut of what a full disk refused is synced where messages are.
    if (code === ErrorCode.DiskFull && topic.durability === "persisted") messages.refuse(batch);
    else messages.loseAnswer(batch);
    return judgeRefusal(labour, partition, "SendMessages", code);
  }
  if (base === undefined) throw new Violation("answer", "a send is confirmed without its offset");
  messages.acknowledge(batch, base);
  if (topic.durability === "persisted") batch.isSafe = true;
}

async function pollSome(labour: Labour, partition: WorldPartition): Promise<void> {
  const { random, producer } = labour;
  const { messages: ledger } = partition;
  const offset = random.below(ledger.end + 1);
  const due = ledger.batchFrom(offset);
  const mayBeTrimmed = ledger.mayBeTrimmed;
  const asked = {
    strategy: { kind: "offset", offset: BigInt(offset) },
    count: 1 + random.below(20),
  } as const;
  const { code, messages } = await poll(producer, partition, asked);
  labour.note(`${ledger.name} poll ${offset}: code ${code}, ${messages.length} messages`);
  if (code !== 0) return judgeRefusal(labour, partition, "PollMessages", code);
  seeAll(ledger, messages, offset);
  const first = messages[0]?.offset;
  if (due === undefined || mayBeTrimmed || ledger.mayBeTrimmed || due.mayBeLost) return;
  if (first === undefined || first > Math.max(offset, due.base))
    throw new Violation("answer", `${ledger.name} offset ${offset}: the poll brings ${first ?? "nothing"}`);
}

async function store(labour: Labour, partition: WorldPartition): Promise<void> {
  const { random, producer } = labour;
  const { consumer, ledger } = random.pick(partition.offsets);
  const offset = partition.messages.lastKnown - random.below(3);
  if (offset < 0 || offset <= ledger.attempted) return;
  ledger.attempt(offset);
  const place = { ...targetOf(partition.topic), consumer, partitionId: partition.id };
  const body = encodeStoreConsumerOffset({ ...place, offset: BigInt(offset), ack: "quorum" });
  // What stands before it in the log when it is sent is persisted with it.
  const isPersisted = partition.topic.offsetDurability === "persisted";
  const before = isPersisted ? partition.messages.known() : [];
  const { code } = await producer.command("StoreConsumerOffset", body);
  labour.note(`${ledger.name} stores ${offset}: code ${code}`);
  // Who just joined its group again owns no partition for a while.
  if (code === ErrorCode.ResourceNotFound && consumer.kind === "group") return;
  if (code !== 0) return judgeRefusal(labour, partition, "StoreConsumerOffset", code);
  ledger.acknowledge(offset);
  for (const batch of before) batch.isSafe = true;
}

async function deleteSegments(labour: Labour, partition: WorldPartition): Promise<void> {
  const segmentsCount = 1 + labour.random.below(2);
  partition.messages.allowTrim(segmentsCount, SEGMENT_LENGTH);
  const body = { ...targetOf(partition.topic), partitionId: partition.id, segmentsCount };
  const { code } = await labour.operator.command("DeleteSegments", encodeDeleteSegments(body));
  labour.note(`${partition.messages.name} deletes ${segmentsCount} segments: code ${code}`);
  if (code !== 0) judgeRefusal(labour, partition, "DeleteSegments", code);
}

async function purge(labour: Labour, topic: WorldTopic): Promise<void> {
  for (const { messages } of topic.partitions) messages.allowPurge();
  const { code } = await labour.operator.command("PurgeTopic", encodePurgeTopic(targetOf(topic)));
  labour.note(`${topic.name} purge: code ${code}`);
  if (code !== 0) return judgeRefusal(labour, undefined, "PurgeTopic", code);
  // Where it cannot be written yet, nothing of before is shown all the same.
  for (const partition of topic.partitions) purgePartition(partition);
}

async function repair(labour: Labour, partition: WorldPartition): Promise<void> {
  const offsets = labour.random.pick(["proven", "known", "none"] as const);
  const target = { ...targetOf(partition.topic), partitionId: partition.id };
  const body = encodeRepairPartition({ ...target, offsets });
  if (partition.isHarmed && offsets !== "proven")
    for (const { ledger } of partition.offsets) ledger.forgive();
  const { code, payload } = await labour.operator.command("RepairPartition", body);
  labour.note(`${partition.messages.name} repair ${offsets}: code ${code}`);
  if (code !== 0) return judgeRefusal(labour, partition, "RepairPartition", code);
  const { outcome } = decodeRepairPartitionReply(payload);
  if (outcome !== "healthy" && !partition.isHarmed && !labour.trouble.hasWrongReads)
    throw new Violation("answer", `${partition.messages.name} is said to be ${outcome}, nothing harmed it`);
}

async function changeCatalog(labour: Labour): Promise<void> {
  const { world, operator } = labour;
  const { catalog } = world;
  if (catalog.hasPending) return;
  const choice = chooseOperation(catalog.state, labour.random, labour.freshName);
  if (choice.refused) return;
  const { operation } = choice;
  if (operation.kind === "send-one" || operation.kind === "purge-topic") return;
  catalog.attempt(operation);
  const [name, body] = requestOf(operation);
  const { code } = await operator.command(name, body);
  labour.note(`${JSON.stringify(operation)}: code ${code}`);
  if (code === 0) catalog.acknowledge();
  else judgeRefusal(labour, undefined, name, code);
}

function requestOf(operation: CatalogOperation): [CommandName, Uint8Array] {
  const stream = toIdentifier(operation.stream);
  const topic = toIdentifier("topic" in operation ? operation.topic : operation.stream);
  const options = NO_OPTIONS;
  switch (operation.kind) {
    case "create-stream":
      return ["CreateStream", encodeCreateStream({ name: operation.stream, options })];
    case "rename-stream":
      return ["UpdateStream", encodeUpdateStream({ stream, name: operation.to, options })];
    case "delete-stream":
      return ["DeleteStream", encodeDeleteStream({ stream })];
    case "create-topic": {
      const body = { stream, name: operation.topic, partitionsCount: operation.count, options };
      return ["CreateTopic", encodeCreateTopic(body)];
    }
    case "rename-topic":
      return ["UpdateTopic", encodeUpdateTopic({ stream, topic, name: operation.to, options })];
    case "create-partitions":
      return [
        "CreatePartitions",
        encodeCreatePartitions({ stream, topic, partitionsCount: operation.count }),
      ];
    case "delete-partitions":
      return [
        "DeletePartitions",
        encodeDeletePartitions({ stream, topic, partitionsCount: operation.count }),
      ];
    default:
      return ["DeleteTopic", encodeDeleteTopic({ stream, topic })];
  }
}

/** A refusal has a reason that this run gave. @throws Violation answer */
function judgeRefusal(
  { trouble }: Labour,
  partition: WorldPartition | undefined,
  name: string,
  code: number,
): void {
  if (code === NO_ANSWER) return;
  if (TROUBLE_CODES.has(code) && trouble.isTroubled) return;
  const mayBeDamaged = partition?.isHarmed === true || trouble.hasWrongReads;
  if (code === ErrorCode.PartitionDamaged && mayBeDamaged) return;
  const where = partition === undefined ? "" : ` of ${partition.messages.name}`;
  throw new Violation("answer", `${name}${where} is answered with ${code} for no reason`);
}
