import assert from "node:assert/strict";
import { typedField } from "@millrace/framing";
import { encodeCreateStream, encodeCreateTopic, NO_OPTIONS, toIdentifier } from "@millrace/protocol";
import { type Line, recordedLog } from "../../testing/recorded.ts";
import { sendBody } from "../../testing/test-batches.ts";
import type { TestClient } from "../../testing/test-client.ts";
import { TestCluster, type TestClusterOptions } from "../../testing/test-cluster.ts";
import { pollBody, polled } from "../../testing/test-polls.ts";
import { deleteSegmentsBody, fillSegments } from "../../testing/test-topics.ts";

const FETCHED = "The state of a group was fetched.";
const MIB = 1_048_576n;

/** A cluster with a topic of small segments, a client on its primary, and one node that is cut off. */
export class Lagging {
  readonly cluster: TestCluster;
  readonly lines: readonly Line[];
  readonly primary: number;
  readonly client: TestClient;
  /** The node that is cut off, and the one that is not primary and hears everything. */
  readonly at: number;
  readonly other: number;

  private constructor(parts: { cluster: TestCluster; lines: Line[]; primary: number; client: TestClient }) {
    this.cluster = parts.cluster;
    this.lines = parts.lines;
    this.primary = parts.primary;
    this.client = parts.client;
    this.at = (parts.primary + 1) % 3;
    this.other = (parts.primary + 2) % 3;
  }

  /** @param topic  numeric options of its topic */
  static async start(
    options: Omit<TestClusterOptions, "log"> = {},
    topic: { readonly partitionsCount?: number; readonly messageExpiry?: bigint } = {},
  ): Promise<Lagging> {
    const lines: Line[] = [];
    const cluster = await TestCluster.start(3, { ...options, log: recordedLog(lines) });
    const primary = await cluster.metadataPrimary();
    const client = await cluster.login(primary);
    await cluster.drive(createPersistedTopic(client, topic));
    const lagging = new Lagging({ cluster, lines, primary, client });
    await lagging.caughtUp();
    lagging.cutOff();
    return lagging;
  }

  /** The node hears nobody, and nobody hears it. */
  cutOff(): void {
    this.cluster.passes = ({ from, to }) => from !== this.at && to !== this.at;
  }

  heal(): void {
    this.cluster.passes = () => true;
  }

  async send(text: string): Promise<void> {
    await this.cluster.drive(this.client.ok("SendMessages", sendBody([text])));
  }

  /** Fills some segments and has the oldest deleted: the log no longer reaches back to before. */
  async forget(segmentsCount = 3): Promise<void> {
    await this.cluster.drive(fillSegments(this.client, segmentsCount));
    await this.cluster.drive(this.client.ok("DeleteSegments", deleteSegmentsBody(segmentsCount)));
  }

  /** Lets time pass until the node's partition is as the primary's, then compares what they hold. */
  async caughtUp(at = this.at): Promise<void> {
    const { cluster, primary } = this;
    await cluster.group(at, 0);
    await cluster.until(() => this.#opOf(at) === this.#opOf(primary));
    assert.deepEqual(await logOf(cluster, at), await logOf(cluster, primary));
  }

  /**
   * Heals the link, and kills the node, or fails its power when `step` is odd, after that many calls of its
   * disk or with the state fetched; then starts it. True when the state was fetched before it died.
   */
  async dieInTransfer(step: number): Promise<boolean> {
    const { cluster, at } = this;
    const node = cluster.nodes[at];
    assert.ok(node !== undefined);
    const before = this.fetched;
    let calls = 0;
    node.disk.setFaults(() => {
      calls += 1;
      return undefined;
    });
    node.diskLatencyMaxMs = 1;
    this.heal();
    await cluster.until(() => calls > step || this.fetched > before);
    const isFetched = this.fetched > before;
    node.diskLatencyMaxMs = 0;
    if (step % 2 === 0) cluster.kill(at);
    else cluster.crash(at);
    await cluster.startNode(at);
    return isFetched;
  }

  /** States that were fetched so far. */
  get fetched(): number {
    return this.lines.filter(({ message }) => message === FETCHED).length;
  }

  #opOf(at: number): number | undefined {
    return this.cluster.groupNow(at, 0)?.partition?.committedOp;
  }
}

/** Makes stream 0 with topic 0, which keeps what it acknowledged through a loss of power. */
async function createPersistedTopic(
  client: TestClient,
  { partitionsCount = 1, messageExpiry = 0n }: { partitionsCount?: number; messageExpiry?: bigint },
): Promise<void> {
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const options = [
    { key: "segment_size", value: typedField("uint64", MIB) },
    { key: "durability", value: typedField("string", "persisted") },
    { key: "message_expiry", value: typedField("uint64", messageExpiry) },
  ];
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount, options };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
}

/** What a node says that partition 0 holds, and what stands behind it. */
async function logOf(cluster: TestCluster, at: number) {
  const { partition } = await cluster.group(at, 0);
  assert.ok(partition !== undefined);
  const client = await cluster.login(at, BigInt(300 + at));
  const texts: { readonly offset: number; readonly text: string }[] = [];
  for (let offset = BigInt(partition.firstOffset); ; ) {
    const poll = pollBody({ strategy: { kind: "offset", offset }, count: 1 });
    const [message] = polled(await cluster.drive(client.ok("PollMessages", poll))).messages;
    if (message === undefined) break;
    texts.push({ offset: message.offset, text: message.text.slice(0, 40) });
    offset = BigInt(message.offset + 1);
  }
  client.close();
  return {
    texts,
    op: partition.committedOp,
    firstOffset: partition.firstOffset,
    nextOffset: partition.committedNextOffset,
    generation: partition.purgeGeneration,
    offsets: partition.consumerOffsetIds(1).map((id) => [id, partition.consumerOffset(1, id)]),
  };
}
