import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { MillraceClient } from "../millrace-client.ts";
import { FakeServer } from "../testing/fake-server.test.ts";
import { FakeTopic } from "../testing/fake-topic.test.ts";
import { RealServer } from "../testing/real-server.test.ts";
import type { CommitMode } from "./consumer.ts";

const unhandled: unknown[] = [];
process.on("unhandledRejection", (reason) => unhandled.push(reason));

const server = new RealServer();
/** Makes what a test needs, and looks at it; a busy machine may take its time for that. */
let admin: MillraceClient;
/** Gives up soon, so that an outage outlasts it. */
let client: MillraceClient;

const WHO = { username: "iggy", password: "iggy", reconnect: { intervalMs: 20, delayMaxMs: 100 } };
const REQUEST_TIMEOUT_MS = 2000;

before(async () => {
  await server.start();
  admin = await MillraceClient.connect({ ...WHO, address: server.address });
  await admin.createStream("s");
  client = await MillraceClient.connect({
    ...{ ...WHO, address: server.address, requestTimeoutMs: REQUEST_TIMEOUT_MS },
  });
});
after(async () => {
  await Promise.allSettled([client?.close(), admin?.close()]);
  await server.remove();
  assert.deepEqual(unhandled, [], "no promise was rejected without a handler");
});

const MESSAGES = Array.from({ length: 20 }, (_, index) => ({ payload: `m${index}` }));
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** An error of a commit that says what was not stored, and that trying again is right. */
function isNotStored(error: unknown): error is CodedError {
  assert.ok(isCodedError(error, ErrorCode.RequestTimeout) || isCodedError(error, ErrorCode.OutcomeUnknown));
  assert.match(error.message, /^Offset \d+ of partition 0 was not stored\. .* goes with the next commit/);
  assert.doesNotMatch(error.message, /Look before/);
  assert.equal(error.details["partitionId"], 0);
  assert.ok(isCodedError(error.cause));
  return true;
}

async function open(kind: "consumer" | "group", name: string, commit: CommitMode) {
  const topic = `${kind}-${name}-${commit}`;
  await admin.createTopic("s", { name: topic, partitionsCount: 1 });
  await admin.sendMessages({ stream: "s", topic, messages: MESSAGES });
  const options = { stream: "s", topic, commit, commitIntervalMs: 10, batchCountMax: 5 };
  const isGroup = kind === "group";
  const reopen = () =>
    isGroup
      ? client.consumerGroup({ ...options, group: "g" })
      : client.consumer({ ...options, consumer: "c" });
  const place = { stream: "s", topic, partitionId: 0, consumer: isGroup ? { group: "g" } : "c" };
  return { consumer: reopen(), reopen, stored: () => admin.getConsumerOffset(place) };
}

for (const kind of ["consumer", "group"] as const) {
  for (const end of ["kill", "stop"] as const) {
    test(`a loop of a ${kind} that commits by itself outlives a ${end} of the server`, async () => {
      const { consumer, stored } = await open(kind, end, "after-handler");
      const seen = new Set<string>();
      for await (const message of consumer) {
        seen.add(message.text());
        if (message.offset === 19n) break;
        if (seen.size !== 7) continue;
        await server[end]();
        void pause(REQUEST_TIMEOUT_MS * 1.2).then(() => server.start());
      }
      assert.equal(seen.size, 20);
      assert.equal((await stored())?.storedOffset, 18n, "the message that broke the loop comes again");
    });

    test(`a commit of a ${kind} that fails during a ${end} of the server works when it is back`, async () => {
      const { consumer, stored } = await open(kind, end, "manual");
      const seen = new Set<string>();
      const failures: unknown[] = [];
      for await (const message of consumer) {
        const isDown = message.offset === 6n && !seen.has(message.text());
        if (isDown) await server[end]();
        seen.add(message.text());
        for (let [isStored, tries] = [false, 0]; !isStored; tries += 1) {
          isStored = await consumer.commit(message).then(
            () => true,
            (error) => isNotStored(error) && failures.push(error) === 0,
          );
          if (isDown && tries === 0) await server.start();
        }
        if (message.offset === 19n) break;
      }
      // A server that stops says goodbye to its members: what one of them commits then is not his any more.
      if (kind === "consumer" || end === "kill") assert.notEqual(failures.length, 0);
      assert.equal(seen.size, 20);
      assert.equal((await stored())?.storedOffset, 19n);
    });
  }

  test(`a loop of a ${kind} that a failed commit ends does not wait for the server as long once more`, async () => {
    const { consumer, reopen } = await open(kind, "left", "manual");
    let failure: unknown;
    const loop = async () => {
      for await (const message of consumer) {
        if (message.offset === 5n) await server.kill();
        await consumer.commit(message);
      }
    };
    await assert.rejects(loop, (error) => {
      failure = error;
      return isNotStored(error);
    });
    await assert.rejects(consumer.close(), (error) => {
      assert.ok(isCodedError(error) && isCodedError(failure, error.code));
      assert.equal(error.cause, failure.cause, "it is about the same request, and waited for no other");
      assert.match(error.message, /comes again to whoever reads on from the stored offset/);
      return true;
    });
    await server.start();
    while (!client.isConnected) await pause(5);
    const next = reopen();
    for await (const message of next) {
      assert.equal(message.offset, 5n);
      break;
    }
  });
}

test("a member that closed during an outage leaves its group when the server is back", async () => {
  const { consumer } = await open("group", "ghost", "manual");
  for await (const message of consumer) {
    await consumer.commit(message);
    await server.kill();
    break;
  }
  // The leave runs out of time.
  await pause(REQUEST_TIMEOUT_MS * 1.5);
  await server.start();
  while (!client.isConnected) await pause(5);
  const place = { stream: "s", topic: "group-ghost-manual", group: "g" };
  for (let waits = 0; (await admin.getConsumerGroup(place))?.membersCount !== 0; waits += 1) {
    assert.ok(waits < 200, "it is no member any more");
    await pause(10);
  }
});

test("a consumer whose client gave up at a server that does not answer ends with the client's error", async () => {
  const fake = new FakeServer();
  const topic = new FakeTopic(1);
  fake.script = topic.script;
  topic.append(0, ["m0"]);
  const lone = await fake.connect({ reconnect: false, requestTimeoutMs: 60 });
  const place = { stream: "s", topic: "t", consumer: "c", pollIntervalMs: 1 };
  const silence = () => {
    fake.script = () => true;
  };
  await assert.rejects(lone.consumer(place).run(silence), (error) => {
    assert.ok(isCodedError(error, ErrorCode.RequestTimeout));
    return true;
  });
  await lone.close();
});
