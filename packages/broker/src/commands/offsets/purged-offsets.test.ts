import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import {
  encodeCreateStream,
  encodeCreateTopic,
  encodeGetConsumerOffset,
  encodePurgeTopic,
  encodeStoreConsumerOffset,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../../testing/test-batches.ts";
import { pollBody, polled } from "../../testing/test-polls.ts";
import { TestServer } from "../../testing/test-server.ts";

const target = { stream: toIdentifier(0), topic: toIdentifier(0) };
const consumer = { kind: "consumer", id: toIdentifier(1) } as const;
const TEXTS = ["0", "1", "2", "3", "4"];

/** A topic with messages whose reads come from a disk that takes its time, and two clients. */
async function started(seed: number) {
  const server = await TestServer.start({ seed, diskLatencyMaxMs: 3, config: { tailCacheLengthMax: 0 } });
  const reader = await server.login(1n);
  const operator = await server.login(2n);
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: NO_OPTIONS };
  await server.drive(reader.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS })));
  await server.drive(reader.ok("CreateTopic", encodeCreateTopic(topic)));
  await server.drive(reader.ok("SendMessages", sendBody(TEXTS)));
  return { server, reader, operator };
}

/** Stored offset of the consumer, empty when none is stored. */
const storedOffset = encodeGetConsumerOffset({ ...target, consumer, partitionId: 0 });

test("A poll that began before a purge stores no offset behind it.", async () => {
  let readBefore = 0;
  for (let seed = 1; seed <= 12; seed++) {
    const { server, reader, operator } = await started(seed);
    const poll = reader.ok("PollMessages", pollBody({ autoCommit: true }));
    const purge = operator.ok("PurgeTopic", encodePurgeTopic(target));
    const refill = operator.ok("SendMessages", sendBody([...TEXTS, "5"]));
    const [payload] = await server.drive(Promise.all([poll, purge, refill]));
    const stored = await server.drive(reader.ok("GetConsumerOffset", storedOffset));
    if (polled(payload).messages.length === TEXTS.length) {
      readBefore += 1;
      assert.equal(stored.length, 0, `seed ${seed}`);
    }
    await server.stop();
  }
  assert.ok(readBefore > 0, "some polls read what the purge removed");
});

test("An offset stored while a purge is under way is refused with 58.", async () => {
  const codes = new Set<number>();
  for (let seed = 1; seed <= 24; seed++) {
    const { server, reader, operator } = await started(seed);
    const purge = operator.ok("PurgeTopic", encodePurgeTopic(target));
    const refill = operator.ok("SendMessages", sendBody([...TEXTS, "5"]));
    const pauseMs = seed % 8;
    await server.drive(new Promise<void>((go) => server.platform.clock.setTimer(pauseMs, () => go())));
    const isPurging = server.groupOf(0).purges.isUnderWay;
    const store = { ...target, consumer, partitionId: 0, offset: 4n, ack: "quorum" } as const;
    const { code } = await server.drive(
      reader.command("StoreConsumerOffset", encodeStoreConsumerOffset(store)),
    );
    await server.drive(Promise.all([purge, refill]));
    if (isPurging) codes.add(code);
    await server.stop();
  }
  assert.deepEqual([...codes], [ErrorCode.TransientNotAccepted]);
});
