import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import {
  decodeGetConsumerOffset,
  decodePollMessages,
  encodeGetClusterMetadataReply,
  encodeSyncConsumerGroupReply,
} from "@millrace/protocol";
import type { GroupConsumerOptions } from "../consumer-group/group-consumer.ts";
import type { StalledFacts } from "../consumer-group/group-events.ts";
import { type FakeRequest, FakeServer, node } from "../testing/fake-server.test.ts";
import { FakeTime } from "../testing/fake-time.test.ts";
import { FakeTopic } from "../testing/fake-topic.test.ts";
import type { RefusedFacts } from "./consumer-events.ts";

const KINDS = ["consumer", "group"] as const;
const REFUSED_MS = 3000;

/** What is refused of partition 0: to poll it, to tell its stored offset, or nothing any more. */
type Refusal = "poll" | "offset" | "nothing";

function partitionOf({ command, body }: FakeRequest): number | undefined {
  if (command === "PollMessages") return decodePollMessages(body).partitionId;
  return command === "GetConsumerOffset" ? decodeGetConsumerOffset(body).partitionId : undefined;
}

/** Two nodes of a cluster, of which none accepts what is asked of partition 0. */
async function setUp(kind: (typeof KINDS)[number], partitionsCount: number, first: Refusal) {
  const [server, topic, time] = [new FakeServer(), new FakeTopic(partitionsCount), new FakeTime()];
  const parts = { refusal: first, isSilent: false };
  server.script = (request) => {
    const { command } = request;
    if (parts.isSilent) return true;
    if (command === "GetClusterMetadata") {
      const nodes = [node("127.0.0.1", 8101), node("127.0.0.1", 8102, "follower")];
      request.succeed(encodeGetClusterMetadataReply({ name: "two", nodes }));
    } else if (command === "SyncConsumerGroup") {
      const partitions = topic.partitions.map((_, id) => id);
      request.succeed(encodeSyncConsumerGroupReply({ generation: 1, partitions }));
    } else if (partitionOf(request) === 0 && isRefused(command)) request.deny(ErrorCode.TransientNotAccepted);
    else return topic.script(request);
    return true;
  };
  const isRefused = (command: string) =>
    parts.refusal !== "nothing" && (command === "PollMessages" || parts.refusal === "offset");
  const platform = time.on(server.platform);
  const client = await time.until(
    server.connect({ address: "127.0.0.1:8101", requestTimeoutMs: REFUSED_MS, platform }),
  );
  const place = { stream: "s", topic: "t", pollIntervalMs: 1 };
  const open = (more: Partial<GroupConsumerOptions> = {}) =>
    kind === "group"
      ? client.consumerGroup({ ...place, ...more, group: "g" })
      : client.consumer({ ...place, consumer: "c" });
  return { server, topic, time, parts, client, open };
}

for (const kind of KINDS) {
  for (const refusal of ["poll", "offset"] as const) {
    test(`a ${kind} reads on when the ${refusal} of one partition is refused, says so, and takes it up again`, async () => {
      const { topic, time, parts, client, open } = await setUp(kind, 2, refusal);
      topic.append(0, ["a"]);
      topic.append(1, ["b0", "b1"]);
      const consumer = open();
      const refused: RefusedFacts[] = [];
      consumer.on("refused", (facts) => refused.push(facts));
      const seen: string[] = [];
      const running = consumer.run((message) => void seen.push(message.text()));
      await time.pass(4 * REFUSED_MS);
      topic.append(1, ["b2"]);
      await time.pass(4 * REFUSED_MS);
      assert.deepEqual(seen, ["b0", "b1", "b2"]);
      assert.ok(refused.length >= 2, "told each time");
      const [{ partitionId, error } = assert.fail()] = refused;
      assert.equal(partitionId, 0);
      assert.ok(isCodedError(error, ErrorCode.RequestTimeout));
      assert.match(error.message, /^The server refused it \d+ times in 3000 ms\. .* 58 /);
      assert.ok(isCodedError(error.cause, ErrorCode.TransientNotAccepted));
      parts.refusal = "nothing";
      await time.pass(2 * REFUSED_MS);
      assert.deepEqual(seen, ["b0", "b1", "b2", "a"]);
      await time.until(consumer.close());
      await time.until(running);
      await time.until(client.close());
    });
  }

  test(`a refused partition costs a ${kind} half of the time at most`, async () => {
    const { topic, time, client, open } = await setUp(kind, 2, "poll");
    const consumer = open();
    const seen: string[] = [];
    const running = consumer.run(async (message) => {
      seen.push(message.text());
      topic.append(1, [`b${seen.length}`]);
      await new Promise<void>((resolve) => time.clock.setTimer(100, resolve));
    });
    topic.append(1, ["b0"]);
    await time.pass(10 * REFUSED_MS);
    assert.ok(seen.length > 100, `${seen.length} messages in ten times what a refusal takes`);
    await time.until(consumer.close());
    await time.until(running);
    await time.until(client.close());
  });

  test(`a ${kind} survives a server that is silent without a word of refusals`, async () => {
    const { topic, time, parts, client, open } = await setUp(kind, 1, "nothing");
    const consumer = open();
    const refused: RefusedFacts[] = [];
    consumer.on("refused", (facts) => refused.push(facts));
    const seen: string[] = [];
    const running = consumer.run((message) => void seen.push(message.text()));
    parts.isSilent = true;
    await time.pass(5 * REFUSED_MS);
    parts.isSilent = false;
    topic.append(0, ["a"]);
    await time.pass(5 * REFUSED_MS);
    assert.deepEqual([seen, refused], [["a"], []]);
    await time.until(consumer.close());
    await time.until(running);
    await time.until(client.close());
  });
}

test("a member whose only partition is refused says that it stalls", async () => {
  const { topic, time, client, open } = await setUp("group", 1, "poll");
  topic.append(0, ["a", "b"]);
  const consumer = open({ stalledAfterMs: 5000 });
  const stalled: StalledFacts[] = [];
  (consumer as ReturnType<typeof client.consumerGroup>).on("stalled", (facts) => stalled.push(facts));
  const running = consumer.run(() => {});
  await time.pass(10 * REFUSED_MS);
  const [facts] = stalled;
  assert.deepEqual([facts?.partitionId, facts?.logEnd, facts?.isOwn], [0, 1n, true]);
  await time.until(consumer.close());
  await time.until(running);
  await time.until(client.close());
});
