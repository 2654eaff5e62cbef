import assert from "node:assert/strict";
import { test } from "node:test";
import { loadKeyHash, typedField } from "@millrace/framing";
import type { Disk } from "@millrace/platform";
import { SimDisk } from "@millrace/platform/sim";
import {
  COMMAND_OPERATIONS,
  encodeCreateStream,
  encodeCreateTopic,
  encodePurgeTopic,
  NO_OPTIONS,
  type OptionEntries,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "./testing/test-batches.ts";
import { pollBody } from "./testing/test-polls.ts";
import { TestServer } from "./testing/test-server.ts";
import { loadTokenDigest } from "./tokens/token-digest.ts";

const FILE_LENGTH_MAX = 1_048_576;

/** Every file below a folder with its bytes, by path. */
async function filesBelow(disk: Disk, path: string, found: Map<string, string> = new Map()) {
  for (const { name, kind } of await disk.readDirectory(path)) {
    const inner = path === "" ? name : `${path}/${name}`;
    if (kind === "directory") await filesBelow(disk, inner, found);
    else {
      const bytes = (await disk.readWhole(inner, FILE_LENGTH_MAX)) ?? new Uint8Array(0);
      found.set(inner, Buffer.from(bytes).toString("base64"));
    }
  }
  return found;
}

const stream = encodeCreateStream({ name: "s", options: NO_OPTIONS });
const topic = (options: OptionEntries = NO_OPTIONS) =>
  encodeCreateTopic({ stream: toIdentifier(0), name: "t", partitionsCount: 2, options });

/** What a seed leads to: replies of two clients at once, in the order they came, and every byte on disk. */
async function historyOf(seed: number) {
  const server = await TestServer.start({ seed, diskLatencyMaxMs: 4 });
  const clients = [await server.login(1n), await server.login(2n)];
  const replies: string[] = [];
  const ask = async (index: number, frame: Uint8Array | undefined) => {
    if (frame === undefined) return;
    const { bytes } = (await clients[index]?.exchange(frame)) ?? {};
    replies.push(`${index}:${Buffer.from(bytes ?? []).toString("base64")}`);
  };
  await server.drive(clients[0]?.ok("CreateStream", stream) ?? Promise.reject(new Error("no client")));
  await server.drive(clients[0]?.ok("CreateTopic", topic()) ?? Promise.reject(new Error("no client")));
  const asked: Promise<void>[] = [];
  for (let round = 0; round < 20; round++) {
    for (const [index, client] of clients.entries()) {
      const body = sendBody([`${index}-${round}`], { partitioning: { kind: "balanced" } });
      asked.push(ask(index, client.frame(COMMAND_OPERATIONS.SendMessages, body, { request: 7n })));
    }
    const poll = clients[1]?.frame(COMMAND_OPERATIONS.PollMessages, pollBody({ autoCommit: true }), {
      code: 100,
    });
    asked.push(ask(1, poll));
  }
  const target = { stream: toIdentifier(0), topic: toIdentifier(0) };
  const purge = clients[0]?.frame(COMMAND_OPERATIONS.PurgeTopic, encodePurgeTopic(target), { request: 9n });
  asked.push(ask(0, purge));
  await server.drive(Promise.all(asked));
  const disk = await server.stop();
  return { replies, files: await server.drive(filesBelow(disk, "")) };
}

test("One seed leads to one history: the same replies in the same order and the same bytes on disk.", async () => {
  await loadKeyHash();
  await loadTokenDigest();
  const [once, again] = [await historyOf(7), await historyOf(7)];
  assert.ok(once.files.size > 4 && once.replies.length === 61);
  assert.deepEqual(again.replies, once.replies);
  assert.deepEqual([...again.files], [...once.files]);
  const other = await historyOf(8);
  assert.notDeepEqual([...other.files], [...once.files]);
});

test("A topic with preallocate_segments asks for the space of its segments, others do not.", async () => {
  const disk = new SimDisk({ seed: 1 });
  const reserved: number[] = [];
  const openFile = disk.openFile.bind(disk);
  disk.openFile = async (path, mode) => {
    const file = await openFile(path, mode);
    file.preallocate = async (length) => void reserved.push(length);
    return file;
  };
  const server = await TestServer.start({ disk });
  const client = await server.login();
  await client.ok("CreateStream", stream);
  await client.ok("CreateTopic", topic());
  assert.deepEqual(reserved, []);
  const options: OptionEntries = [
    { key: "preallocate_segments", value: typedField("bool", true) },
    { key: "segment_size", value: typedField("uint64", FILE_LENGTH_MAX) },
  ];
  const body = { stream: toIdentifier(0), name: "reserving", partitionsCount: 2, options };
  await client.ok("CreateTopic", encodeCreateTopic(body));
  assert.deepEqual(reserved, [FILE_LENGTH_MAX, FILE_LENGTH_MAX]);
  await server.stop();
});
