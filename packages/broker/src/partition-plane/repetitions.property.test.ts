import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { typedField } from "@millrace/framing";
import {
  decodeSendMessagesReply,
  encodeCreateStream,
  encodeCreateTopic,
  NO_OPTIONS,
  Operation,
  type Partitioning,
  toIdentifier,
} from "@millrace/protocol";
import { SeededRandom } from "@millrace/testkit";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer, type TestServerOptions } from "../testing/test-server.ts";

const SENDS = 60;
const PARTITIONS = 2;
const CLIENT = 7n;

/** What one seed chooses. */
interface Course {
  readonly options: TestServerOptions;
  readonly partitioning: Partitioning;
  /** Characters of a message: long ones fill several segments. */
  readonly textLength: number;
}

function courseOf(random: SeededRandom, seed: number): Course {
  const key = random.fraction() < 0.3 ? { key: new Uint8Array(32).fill(seed) } : {};
  const partitioning: Partitioning =
    random.fraction() < 0.5 ? { kind: "balanced" } : { kind: "partition", partitionId: 1 };
  const textLength = random.fraction() < 0.4 ? 60_000 : 10;
  return { options: { seed, diskLatencyMaxMs: 3, ...key }, partitioning, textLength };
}

async function createTopic(server: TestServer): Promise<void> {
  const admin = await server.login(1n);
  await server.drive(admin.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS })));
  const options = [{ key: "segment_size", value: typedField("uint64", 1_048_576n) }];
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: PARTITIONS, options };
  await server.drive(admin.ok("CreateTopic", encodeCreateTopic(topic)));
  admin.close();
}

const textOf = (number: number, { textLength }: Course) => `${number}:`.padEnd(textLength, "x");

/** The client again; while its old connection is being logged out the server asks it to try later. */
async function loggedIn(server: TestServer): Promise<TestClient> {
  const client = server.connect();
  for (;;) {
    const { code } = await server.drive(client.login({ client: CLIENT, sdkName: "millrace-node" }));
    if (code === 0) return client;
    assert.equal(code, ErrorCode.TransientNotCommitted);
    await server.platform.clock.run(1);
  }
}

/** Sends under its number what has no answer yet, in order; notes the answers that come. */
function sendRest(
  client: TestClient,
  answered: Map<number, string>,
  course: Course,
  cut: { isCut: boolean },
): Promise<unknown> {
  const exchanges: Promise<unknown>[] = [];
  for (let number = 1; number <= SENDS; number += 1) {
    if (answered.has(number)) continue;
    const body = sendBody([textOf(number, course)], { partitioning: course.partitioning });
    const frame = client.frame(Operation.SendMessages, body, { request: BigInt(number) });
    const exchange = client.exchange(frame).then(({ code, payload }) => {
      if (cut.isCut) return;
      assert.equal(code, 0, `send ${number}`);
      const place = decodeSendMessagesReply(payload)[0];
      answered.set(number, `${place?.partitionId}/${place?.baseOffset}`);
    });
    exchanges.push(exchange.catch((error: unknown) => assert.match(String(error), /connection closed/)));
  }
  return Promise.all(exchanges);
}

async function stored(server: TestServer, client: TestClient): Promise<Map<string, number>> {
  const places = new Map<string, number>();
  for (let partitionId = 0; partitionId < PARTITIONS; partitionId += 1) {
    for (let from = 0n; ; ) {
      const strategy = { kind: "offset", offset: from } as const;
      const poll = client.ok("PollMessages", pollBody({ partitionId, strategy }));
      const { messages } = polled(await server.drive(poll));
      const last = messages.at(-1);
      if (last === undefined) break;
      for (const { offset, text } of messages)
        places.set(`${partitionId}/${offset}`, Number.parseInt(text, 10));
      from = BigInt(last.offset) + 1n;
    }
  }
  return places;
}

/** Lets the client lose its connection, or the server its life, some times, and sends again each time. */
async function runCourse(seed: number, waits: readonly number[]): Promise<void> {
  const random = new SeededRandom(seed);
  const course = courseOf(random, seed);
  let server = await TestServer.start(course.options);
  await createTopic(server);
  const answered = new Map<number, string>();
  for (const waitMs of [...waits, undefined]) {
    const client = await loggedIn(server);
    const cut = { isCut: false };
    const sending = sendRest(client, answered, course, cut);
    if (waitMs === undefined) {
      await server.drive(sending);
      const places = await stored(server, client);
      assert.equal(places.size, SENDS, `seed ${seed}: every message once`);
      for (const [number, place] of answered) assert.equal(places.get(place), number, `seed ${seed}`);
    } else {
      await server.platform.clock.run(waitMs);
      const { clock } = server.platform;
      cut.isCut = true;
      if (random.fraction() < 0.5) client.close();
      else server = await TestServer.start({ ...course.options, disk: server.kill(), clock });
      await server.platform.clock.run(random.below(4));
    }
  }
  await server.stop();
}

test("Whenever a connection is cut or the server killed, sends that are repeated are written once.", async () => {
  for (let seed = 1; seed <= 25; seed += 1) {
    const random = new SeededRandom(seed * 1000);
    await runCourse(
      seed,
      Array.from({ length: 4 }, () => random.below(40)),
    );
  }
});

test("A kill at every millisecond of a burst of sends loses none and repeats none.", async () => {
  for (let waitMs = 0; waitMs < 40; waitMs += 1) await runCourse(100 + waitMs, [waitMs]);
});
