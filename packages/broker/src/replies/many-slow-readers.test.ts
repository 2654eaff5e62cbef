import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  CommandCode,
  encodeCreateStream,
  encodeCreateTopic,
  NO_OPTIONS,
  Operation,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const LONG = 500_000;
const LIMIT = 2_000_000;

const pollFrom = (offset: bigint, autoCommit = false) =>
  pollBody({ strategy: { kind: "offset", offset }, count: 100, autoCommit });

/** A topic with a long message and three short ones, and a bound for replies that nobody takes. */
async function started() {
  const server = await TestServer.start({ config: { allRepliesLengthMax: LIMIT } });
  const client = await server.login();
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  await client.ok("SendMessages", sendBody(["x".repeat(LONG)]));
  for (const text of ["a", "b", "c"]) await client.ok("SendMessages", sendBody([text]));
  return { server, client };
}

for (const [autoCommit, title] of [
  [false, "However many clients read slowly, what waits for them is bounded and others read on."],
  [true, "The same is true of those whose polls store their offsets."],
] as const) {
  test(title, async () => {
    const { server, client } = await started();
    for (let index = 0; index < 20; index++) {
      const slow = await server.login(BigInt(index + 2));
      slow.connection.pause();
      const body = pollFrom(0n, autoCommit);
      const poll = slow.frame(Operation.NonReplicated, body, { code: CommandCode.PollMessages });
      slow.exchange(poll).catch(() => undefined);
    }
    await server.platform.clock.run(100);
    const owed = server.broker.repliesLength;
    assert.ok(owed > LIMIT && owed <= LIMIT + 2 * LONG, String(owed));
    assert.equal(
      (await client.command("PollMessages", pollFrom(0n, true))).code,
      ErrorCode.TransientNotAccepted,
    );
    const { messages } = polled(await client.ok("PollMessages", pollFrom(1n)));
    assert.deepEqual(
      messages.map(({ text }) => text),
      ["a", "b", "c"],
    );
    await server.platform.clock.run(60_000);
    const again = await server.login(99n);
    assert.equal(polled(await again.ok("PollMessages", pollFrom(0n))).messages.length, 4);
    await server.stop();
  });
}
