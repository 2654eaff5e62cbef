import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeGetSnapshot, type GetSnapshot } from "@millrace/protocol";
import { TestServer } from "../../testing/test-server.ts";

const ZIP = Uint8Array.of(0x50, 0x4b, 5, 6);
const TEST: GetSnapshot = { compression: "stored", types: ["test"] };

test("The collected bytes are the reply, and the collector hears what was asked for.", async () => {
  const heard: GetSnapshot[] = [];
  const server = await TestServer.start({
    collectSnapshot: async (asked) => {
      heard.push(asked);
      return ZIP;
    },
  });
  const root = await server.login();
  const asked = { compression: "deflated", types: ["serverLogs", "test"] } as const;
  const { code, payload } = await root.command("GetSnapshot", encodeGetSnapshot(asked));
  assert.equal(code, 0);
  assert.deepEqual(payload, ZIP);
  assert.deepEqual(heard, [asked]);
  root.close();
  await server.stop();
});

test("What cannot be a snapshot is refused with its code, and nothing is collected.", async () => {
  const server = await TestServer.start({
    collectSnapshot: () => Promise.reject(new Error("nobody asks for this")),
  });
  const root = await server.login();
  const codeOf = async (body: Uint8Array) => (await root.command("GetSnapshot", body)).code;
  assert.equal(await codeOf(encodeGetSnapshot({ ...TEST, types: [] })), ErrorCode.InvalidFormat);
  assert.equal(await codeOf(encodeGetSnapshot({ ...TEST, types: ["all", "test"] })), ErrorCode.InvalidFormat);
  for (const bad of [[], [1], [7, 1, 4], [0, 1, 4], [1, 1, 9], [1, 2, 4], [1, 1, 4, 4]]) {
    assert.equal(await codeOf(Uint8Array.from(bad)), ErrorCode.InvalidCommand, String(bad));
  }
  root.close();
  await server.stop();
});

test("Where nobody collects, a snapshot is unavailable.", async () => {
  const server = await TestServer.start();
  const root = await server.login();
  const { code } = await root.command("GetSnapshot", encodeGetSnapshot(TEST));
  assert.equal(code, ErrorCode.FeatureUnavailable);
  root.close();
  await server.stop();
});

test("A second snapshot is refused while one is collected, other requests are served, and then it works.", async () => {
  let finish = (_zip: Uint8Array) => {};
  const server = await TestServer.start({
    collectSnapshot: () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  });
  const one = await server.login(1n);
  const other = await server.login(2n);
  const first = one.command("GetSnapshot", encodeGetSnapshot(TEST));
  const second = await other.command("GetSnapshot", encodeGetSnapshot(TEST));
  assert.equal(second.code, ErrorCode.TransientNotAccepted);
  assert.equal((await other.command("GetMe")).code, 0);
  finish(ZIP);
  assert.equal((await first).code, 0);
  const third = other.command("GetSnapshot", encodeGetSnapshot(TEST));
  await server.drive(new Promise((resolve) => server.platform.clock.setTimer(1, () => resolve(undefined))));
  finish(ZIP);
  assert.equal((await third).code, 0);
  one.close();
  other.close();
  await server.stop();
});

test("A collection that fails, hangs or outgrows a message is answered with 9000, or with its own code.", async () => {
  const answers: readonly (() => Promise<Uint8Array>)[] = [
    () => Promise.reject(new Error("the disk is on fire")),
    () => Promise.resolve(new Uint8Array(256 * 1024)),
    () => Promise.reject(new CodedError(ErrorCode.FeatureUnavailable)),
    () => new Promise(() => {}),
  ];
  let turn = 0;
  const server = await TestServer.start({
    collectSnapshot: () => (answers[turn++] as () => Promise<Uint8Array>)(),
    config: { messageLengthMax: 256 * 1024 },
  });
  const root = await server.login();
  const code = async () => (await server.drive(root.command("GetSnapshot", encodeGetSnapshot(TEST)))).code;
  assert.equal(await code(), ErrorCode.SnapshotFileCompletionFailed);
  assert.equal(await code(), ErrorCode.SnapshotFileCompletionFailed);
  assert.equal(await code(), ErrorCode.FeatureUnavailable);
  assert.equal(await code(), ErrorCode.SnapshotFileCompletionFailed);
  assert.equal(await code(), ErrorCode.TransientNotAccepted, "one that hangs is still running");
  root.close();
  await server.stop();
});
