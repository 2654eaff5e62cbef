import assert from "node:assert/strict";
import { after, test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import type { MillraceClient } from "../millrace-client.ts";
import { FakeServer } from "../testing/fake-server.test.ts";
import { FakeTopic } from "../testing/fake-topic.test.ts";
import type { ConsumerOptions } from "./consumer.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
after(() => assert.deepEqual(unhandled, [], "no promise was rejected without a handler"));

const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const texts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `m${from + index}`);

async function setUp(partitionsCount: number, options: Parameters<FakeServer["connect"]>[0] = {}) {
  const server = new FakeServer();
  const topic = new FakeTopic(partitionsCount);
  server.script = topic.script;
  const client = await server.connect(options);
  const open = (more: Partial<ConsumerOptions> = {}) =>
    client.consumer({ stream: "s", topic: "t", consumer: "c", pollIntervalMs: 1, ...more });
  return { server, topic, client, open };
}

/** Waits for what a test does next. */
async function until(isSo: () => boolean): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!isSo()) {
    assert.ok(performance.now() < endMs, `not so after 10 s: ${isSo}`);
    await pause(1);
  }
}

async function take(client: MillraceClient, count: number, options: Partial<ConsumerOptions> = {}) {
  const seen: string[] = [];
  for await (const message of client.consumer({ stream: "s", topic: "t", consumer: "c", ...options })) {
    seen.push(message.text());
    if (seen.length === count) break;
  }
  return seen;
}

test("all partitions are read, each in order, and messages show what they carry", async () => {
  const { topic, client, open } = await setUp(3);
  for (let partition = 0; partition < 3; partition += 1) {
    topic.append(
      partition,
      texts(0, 5).map((text) => `${partition}${text}`),
    );
  }
  const seen: string[] = [];
  for await (const message of open({ batchCountMax: 2 })) {
    assert.equal(message.text(), `${message.partitionId}m${message.offset}`);
    assert.equal(message.timestamp, 1_700_000_000_000_001n);
    assert.equal(message.originTimestamp, 1_600_000_000_000_001n);
    assert.equal(message.headers.size, 0);
    seen.push(message.text());
    if (seen.length === 15) break;
  }
  for (let partition = 0; partition < 3; partition += 1) {
    const own = seen.filter((text) => text.startsWith(String(partition)));
    assert.deepEqual(
      own,
      texts(0, 5).map((text) => `${partition}${text}`),
    );
  }
  await client.close();
});

test("asking for the next message settles the one before; what break leaves comes again", async () => {
  const { topic, client } = await setUp(1);
  topic.append(0, texts(0, 10));
  assert.deepEqual(await take(client, 4), texts(0, 4));
  assert.equal(topic.committed.get(0), 2);
  assert.deepEqual(await take(client, 2), texts(3, 5));
  await client.close();
});

test("a consumer reads on from the beginning when a purge emptied the log", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 5));
  const seen: string[] = [];
  for await (const message of open({ commitCount: 1 })) {
    seen.push(message.text());
    await pause(2);
    if (seen.length === 5) {
      topic.partitions[0] = [];
      topic.committed.clear();
      setTimeout(() => topic.append(0, ["new 0", "new 1"]), 20);
    }
    if (seen.length === 7) break;
  }
  assert.deepEqual(seen, [...texts(0, 5), "new 0", "new 1"]);
  assert.deepEqual(
    topic.commits.slice(0, 4),
    [0, 1, 2, 3].map((offset) => [0, offset]),
    "4 went with the purge",
  );
  await client.close();
});

test("a start behind the end of the log waits for that offset", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 3));
  const seen: string[] = [];
  setTimeout(() => topic.append(0, texts(3, 8)), 20);
  for await (const message of open({ startAt: { offset: 6 } })) {
    seen.push(message.text());
    if (seen.length === 2) break;
  }
  assert.deepEqual(seen, texts(6, 8));
  await client.close();
});

test("what is settled while offsets are on their way is stored without another message", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 5));
  const consumer = open({ commitCount: 2, commitIntervalMs: 60_000 });
  const running = consumer.run(() => {});
  await until(() => topic.committed.get(0) === 4);
  await consumer.close();
  await running;
  await client.close();
});

test("a message left by break counts when it was committed by hand", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 3));
  const consumer = open();
  for await (const message of consumer) {
    await consumer.commit(message);
    break;
  }
  assert.equal(topic.committed.get(0), 0);
  await client.close();
});

test("offsets are stored in groups: after a count, after a time, and at the end", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 25));
  const byCount = open({ commitCount: 10, commitIntervalMs: 60_000 });
  let seen = 0;
  const running = byCount.run(async () => {
    seen += 1;
    if (seen % 5 === 0) await pause(2);
  });
  await until(() => seen === 25);
  await byCount.close();
  await running;
  assert.ok(topic.commits.length <= 4, "three groups and perhaps one in between");
  assert.equal(topic.committed.get(0), 24);

  topic.append(0, ["late"]);
  const byTime = open({ commitIntervalMs: 10 });
  const other = byTime.run(() => {});
  await until(() => topic.committed.get(0) === 25);
  await byTime.close();
  await other;
  await client.close();
});

test("auto stores with the poll and does not poll ahead; manual stores only what it is told", async () => {
  const { server, topic, client, open } = await setUp(2);
  topic.append(0, texts(0, 10));
  topic.append(1, texts(0, 10));
  assert.deepEqual(await take(client, 1, { commit: "auto", batchCountMax: 5, partitions: [0] }), ["m0"]);
  assert.equal(topic.committed.get(0), 4);
  assert.equal(server.received("PollMessages").length, 1);

  topic.committed.clear();
  const consumer = open({ commit: "manual", startAt: "first", batchCountMax: 2 });
  let seen = 0;
  for await (const _ of consumer) {
    seen += 1;
    if (seen === 3) {
      assert.equal(topic.committed.size, 0);
      await consumer.commit();
      assert.deepEqual([...topic.committed].sort(), [
        [0, 1],
        [1, 0],
      ]);
    }
    if (seen === 8) break;
  }
  assert.deepEqual([...topic.committed].sort(), [
    [0, 1],
    [1, 0],
  ]);
  await client.close();
});

test("a start by offset, first or last is kept to; last begins with the newest and misses nothing", async () => {
  const { server, topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 10));
  assert.deepEqual(await take(client, 2, { startAt: { offset: 7n } }), texts(7, 9));
  assert.deepEqual(await take(client, 2, { startAt: "first" }), texts(0, 2));
  assert.deepEqual(await take(client, 1, { startAt: "last" }), ["m9"]);

  topic.partitions[0] = [];
  topic.committed.clear();
  const seen: string[] = [];
  const consumer = open({ startAt: "last" });
  const polls = () => server.received("PollMessages").length;
  const before = polls();
  const running = consumer.run((message) => void seen.push(message.text()));
  // The answer to its first poll is there when it asks again.
  await until(() => polls() > before + 1);
  topic.append(0, texts(0, 5));
  await until(() => seen.length >= 5);
  assert.deepEqual(seen, texts(0, 5));
  await consumer.close();
  await running;
  await client.close();
});

test("a handler that fails stops the consumer, and its message is not stored", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 5));
  for (const fail of [
    () => {
      throw new Error("bad m3");
    },
    async () => {
      await pause(1);
      throw new Error("bad m3");
    },
  ]) {
    topic.committed.clear();
    const running = open({ startAt: "first" }).run((message) =>
      message.text() === "m3" ? fail() : undefined,
    );
    await assert.rejects(running, /bad m3/);
    assert.equal(topic.committed.get(0), 2);
  }
  await client.close();
});

test("a failing handler may be skipped or tried again", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 5));
  const skipping = open({ startAt: "first" });
  const seen: string[] = [];
  await skipping.run(
    (message) => {
      seen.push(message.text());
      if (message.text() === "m4") void skipping.close();
      if (message.text() === "m2") throw new Error("skipped");
    },
    { onError: "skip" },
  );
  assert.deepEqual(seen, texts(0, 5));
  assert.equal(topic.committed.get(0), 4);

  let attempts = 0;
  const retrying = open({ startAt: "first" });
  await retrying.run(
    () => {
      attempts += 1;
      if (attempts < 3) throw new Error("again");
      void retrying.close();
    },
    { onError: { retry: { attempts: 5, delayMs: 1 } } },
  );
  assert.equal(attempts, 3);
  const giving = open({ startAt: "first" }).run(() => Promise.reject(new Error("never")), {
    onError: { retry: { attempts: 2, delayMs: 1 } },
  });
  await assert.rejects(giving, /never/);
  await client.close();
});

test("close waits for a running handler and stores its message", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 5));
  const consumer = open();
  let [isHandling, isDone] = [false, false];
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const running = consumer.run(async () => {
    isHandling = true;
    await held;
    isDone = true;
  });
  await until(() => isHandling);
  const closing = consumer.close();
  const first = await Promise.race([closing.then(() => "closed"), pause(20).then(() => "waits")]);
  assert.equal(first, "waits");
  letGo();
  await closing;
  assert.equal(isDone, true);
  assert.equal(topic.committed.get(0), 0);
  await running;
  await client.close();
});

test("close can be awaited inside a handler and inside a loop, twice, without a deadlock", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 5));
  const handled = open();
  await handled.run(async (message) => {
    await pause(1);
    if (message.text() !== "m1") return;
    await handled.close();
    await handled.close();
  });
  assert.equal(topic.committed.get(0), 1, "the message of the closing handler is stored after it settled");

  const looped = open();
  const seen: string[] = [];
  for await (const message of looped) {
    seen.push(message.text());
    await looped.close();
    await looped.close();
  }
  assert.deepEqual(seen, ["m2"]);
  assert.equal(topic.committed.get(0), 2);
  await client.close();
});

test("the client may be closed inside a handler; the rest comes again next time", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 5));
  await open().run(async (message) => {
    if (message.text() === "m2") await client.close();
  });
  assert.equal(topic.committed.get(0), 1);
  assert.equal(client.isConnected, false);
});

test("the signal ends a waiting consumer with an error, and what was settled is stored", async () => {
  const { topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 3));
  const abort = new AbortController();
  const consumer = open({ signal: abort.signal, pollIntervalMs: 1000 });
  let seen = 0;
  const running = consumer.run(() => {
    seen += 1;
  });
  await until(() => seen === 3);
  abort.abort();
  await assert.rejects(running, hasCode(ErrorCode.Aborted));
  assert.equal(topic.committed.get(0), 2);
  await assert.rejects(
    open({ signal: abort.signal }).run(() => {}),
    hasCode(ErrorCode.Aborted),
  );
  await client.close();
});

test("errors of the server come out of the loop, and the consumer is closed then", async () => {
  const { server, topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 2));
  await assert.rejects(take(client, 1, { partitions: [5] }), hasCode(ErrorCode.PartitionNotFound));
  let polls = 0;
  server.script = (request) => {
    if (request.command !== "PollMessages" || ++polls < 2) return topic.script(request);
    request.deny(ErrorCode.PartitionDamaged);
    return true;
  };
  const seen: string[] = [];
  await assert.rejects(
    open().run((message) => void seen.push(message.text())),
    hasCode(ErrorCode.PartitionDamaged),
  );
  assert.deepEqual(seen, texts(0, 2));
  assert.equal(topic.committed.get(0), 1);

  server.script = () => false;
  await assert.rejects(take(client, 1), hasCode(ErrorCode.TopicIdNotFound));
  await client.close();
});

test("a commit that is refused comes out of the loop", async () => {
  const { server, topic, client } = await setUp(1);
  topic.append(0, texts(0, 50));
  server.script = (request) => {
    if (request.command !== "StoreConsumerOffset") return topic.script(request);
    request.reject(ErrorCode.TooManyConsumerOffsets);
    return true;
  };
  const consumer = client.consumer({ stream: "s", topic: "t", consumer: "c", commitCount: 1 });
  const running = consumer.run(() => pause(1) as Promise<void>);
  await assert.rejects(running, hasCode(ErrorCode.TooManyConsumerOffsets));
  await client.close().catch(() => {});
});

test("reading goes on after a lost connection, without a gap and without a repetition", async () => {
  const { server, topic, client, open } = await setUp(1);
  topic.append(0, texts(0, 40));
  let polls = 0;
  server.script = (request) => {
    if (request.command !== "PollMessages" || ++polls !== 3) return topic.script(request);
    server.cut();
    return true;
  };
  const seen: string[] = [];
  const consumer = open({ batchCountMax: 5 });
  await consumer.run((message) => {
    seen.push(message.text());
    if (seen.length === 40) void consumer.close();
  });
  assert.deepEqual(seen, texts(0, 40));
  assert.equal(topic.committed.get(0), 39);
  await client.close();
});

test("a consumer outlives an outage longer than a request may take", async () => {
  const { server, topic, client, open } = await setUp(1, { requestTimeoutMs: 40 });
  topic.append(0, texts(0, 3));
  const seen: string[] = [];
  const consumer = open();
  const running = consumer.run((message) => void seen.push(message.text()));
  while (seen.length < 3) await pause(1);
  server.isListening = false;
  server.cut();
  await pause(150);
  topic.append(0, texts(3, 6));
  server.isListening = true;
  while (seen.length < 6) await pause(1);
  await consumer.close();
  await running;
  assert.deepEqual(seen, texts(0, 6));
  await client.close();
});

test("a consumer is read once", async () => {
  const { client, open } = await setUp(1);
  const consumer = open();
  const running = consumer.run(() => {});
  await assert.rejects(
    consumer.run(() => {}),
    hasCode(ErrorCode.InvalidArgument),
  );
  await consumer.close();
  await running;
  await client.close();
});
