import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { getEventListeners } from "node:events";
import { after, test } from "node:test";
import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { createDefaultPlatform } from "../default-platform.ts";
import type { MillraceClient } from "../millrace-client.ts";
import { FakeServer } from "../testing/fake-server.test.ts";
import { FakeTopic } from "../testing/fake-topic.test.ts";
import { Consumer, type ConsumerOptions } from "./consumer.ts";
import { OffsetCommits } from "./offset-commits.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));
after(() => assert.deepEqual(unhandled, [], "no promise was rejected without a handler"));

const hasCode = (code: number) => (error: unknown) => isCodedError(error, code);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const texts = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `m${from + index}`);

async function setUp(count: number, options: Parameters<FakeServer["connect"]>[0] = {}) {
  const server = new FakeServer();
  const topic = new FakeTopic(1);
  server.script = topic.script;
  topic.append(0, texts(0, count));
  const client = await server.connect(options);
  const open = (more: Partial<ConsumerOptions> = {}) =>
    client.consumer({ stream: "s", topic: "t", consumer: "c", pollIntervalMs: 1, ...more });
  return { server, topic, client, open };
}

/** Cuts the connection for good, and waits until the client knows. */
async function lose(server: FakeServer, client: MillraceClient): Promise<void> {
  server.isListening = false;
  server.cut();
  while (client.isConnected) await pause(1);
}

test("who asks for messages before the last one came gets each of them once, in order", async () => {
  const { client, open } = await setUp(20);
  const consumer = open({ batchCountMax: 3 });
  const iterator = consumer[Symbol.asyncIterator]();
  const asked = Array.from({ length: 20 }, () => iterator.next());
  const results = await Promise.all(asked);
  assert.deepEqual(
    results.map(({ value }) => value?.text()),
    texts(0, 20),
  );
  const late = [iterator.next(), iterator.next()];
  await consumer.close();
  assert.deepEqual(
    (await Promise.all(late)).map(({ done }) => done),
    [true, true],
  );
  await client.close();
});

test("a loop that asks when it was answered pays for one promise a message", async () => {
  const { client, open } = await setUp(200);
  let promises = 0;
  const hook = createHook({
    init: (_, type) => {
      if (type === "PROMISE") promises += 1;
    },
  });
  const iterator = open()[Symbol.asyncIterator]();
  await iterator.next();
  hook.enable();
  let asked: Promise<unknown> | undefined;
  // The whole batch is there: nothing else goes on meanwhile.
  for (let count = 0; count < 100; count += 1) {
    const before = promises;
    asked = iterator.next();
    assert.equal(promises, before + 1, "the answer itself");
    await asked;
  }
  hook.disable();
  await iterator.return?.();
  await client.close();
});

test("a handler may give anything that can be awaited; its message counts when that is done", async () => {
  const { topic, client, open } = await setUp(6);
  const handled: string[] = [];
  const consumer = open({ commitCount: 1 });
  const running = consumer.run((message) => ({
    // biome-ignore lint/suspicious/noThenProperty: builders of queries look like this, and begin when awaited
    then(onDone, onFail) {
      const isBad = message.offset === 4n;
      setTimeout(() => {
        if (isBad) return void onFail?.(new Error("refused"));
        handled.push(message.text());
        onDone?.();
      }, 2);
      return undefined as never;
    },
  }));
  await assert.rejects(running, /refused/);
  assert.deepEqual(handled, texts(0, 4));
  assert.equal(topic.committed.get(0), 3);
  await client.close();
});

test("a consumer that ended leaves nothing behind on the signal, however it ended", async () => {
  const { client, open } = await setUp(3);
  const abort = new AbortController();
  const { signal } = abort;
  for (let turn = 0; turn < 5; turn += 1) {
    await assert.rejects(
      open({ signal }).run(() => assert.fail("handler")),
      /handler/,
    );
    for await (const _ of open({ signal })) break;
  }
  assert.equal(getEventListeners(signal, "abort").length, 0);
  await client.close();
});

test("close does not wait for the tries that a failing handler has left", async () => {
  const { topic, client, open } = await setUp(3);
  const consumer = open();
  let tries = 0;
  const fail = () => {
    tries += 1;
    throw new Error("always");
  };
  const running = consumer.run(fail, { onError: { retry: { attempts: 1000, delayMs: 60_000 } } });
  const rejected = assert.rejects(running, /always/);
  while (tries === 0) await pause(1);
  await consumer.close();
  await rejected;
  assert.equal(tries, 1);
  assert.equal(topic.committed.get(0), undefined);
  await client.close();
});

test("a commit without a connection fails, and what it was about is stored with the next one", async () => {
  const { server, topic, client, open } = await setUp(3, { requestTimeoutMs: 60 });
  const consumer = open({ commit: "manual" });
  const { value } = await consumer[Symbol.asyncIterator]().next();
  await lose(server, client);
  assert.ok(value);
  await assert.rejects(consumer.commit(value), hasCode(ErrorCode.RequestTimeout));
  assert.equal(topic.committed.get(0), undefined);
  server.isListening = true;
  while (!client.isConnected) await pause(1);
  await consumer.commit();
  assert.equal(topic.committed.get(0), 0);
  server.isListening = false;
  server.cut();
  await consumer.close();
  await client.close();
});

test("close without a connection says that offsets were not stored", async () => {
  const { server, client, open } = await setUp(3, { requestTimeoutMs: 60 });
  const consumer = open({ commitIntervalMs: 60_000 });
  const iterator = consumer[Symbol.asyncIterator]();
  await iterator.next();
  await iterator.next();
  await lose(server, client);
  await assert.rejects(consumer.close(), hasCode(ErrorCode.RequestTimeout));
  await client.close();
});

test("a consumer outlives a server that is silent for longer than a request may take", async () => {
  const { server, topic, client, open } = await setUp(3, { requestTimeoutMs: 60 });
  let isSilent = false;
  server.script = (request) => isSilent || topic.script(request);
  const seen: string[] = [];
  const consumer = open({ commitCount: 1 });
  const running = consumer.run((message) => void seen.push(message.text()));
  while (seen.length < 3) await pause(1);
  isSilent = true;
  await pause(250);
  topic.append(0, texts(3, 6));
  isSilent = false;
  while (seen.length < 6) await Promise.race([pause(1), running]);
  await consumer.close();
  await running;
  assert.deepEqual(seen, texts(0, 6));
  await client.close();
});

test("a client that was aborted is no error of close: what was not stored comes again", async () => {
  const abort = new AbortController();
  const { topic, client, open } = await setUp(3, { signal: abort.signal });
  const consumer = open({ commitIntervalMs: 60_000 });
  const iterator = consumer[Symbol.asyncIterator]();
  await iterator.next();
  await iterator.next();
  abort.abort();
  await consumer.close();
  await client.close();
  assert.equal(topic.committed.get(0), undefined);
});

test("what others wait for is given up also when offsets could not be stored", async () => {
  const { clock, createScope } = createDefaultPlatform();
  const refusal = new CodedError(ErrorCode.Unauthorized, "refused");
  for (const close of [(one: Consumer) => one.close(), (one: Consumer) => one.run(() => {})]) {
    const store = () => Promise.reject(refusal);
    const parts = {
      clock,
      store,
      intervalMs: 60_000,
      countMax: 1000,
      isConnected: () => true,
      isEnded: () => false,
    };
    const commits = new OffsetCommits(parts);
    commits.settle(0, 5);
    const ended: string[] = [];
    const consumer = new Consumer(
      {},
      {
        ...{ commits, clock, scope: createScope(), events: { on: () => () => {} } },
        source: {
          ...{ isStopped: false, isBatchLost: false, isGivingUp: false, stop: () => {} },
          nextBatch: async () => undefined,
        },
        release: async () => void ended.push("released"),
        onClosed: () => ended.push("closed"),
      },
    );
    await assert.rejects(close(consumer), hasCode(ErrorCode.Unauthorized));
    assert.deepEqual(ended, ["released", "closed"]);
  }
});
