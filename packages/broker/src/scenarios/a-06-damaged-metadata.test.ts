import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { SimDisk, SimRandom } from "@millrace/platform/sim";
import {
  decodeGetStreamsReply,
  encodeCreateStream,
  encodeCreateTopic,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const PLACES = 50;
const KILLS = 50;
const STREAMS = 9;
const FILE_LENGTH_MAX = 1 << 24;
/** Few operations between snapshots: journal, snapshot and superblocks are all there. */
const CONFIG = { snapshotEveryOps: 6 };

/** Files and folders below a path, files with their bytes. */
async function contentOf(disk: SimDisk, path: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const { name, kind } of await disk.readDirectory(path)) {
    const inner = path === "" ? name : `${path}/${name}`;
    if (kind === "directory") {
      found.set(inner, "a folder");
      for (const [below, bytes] of await contentOf(disk, inner)) found.set(below, bytes);
    } else {
      const bytes = (await disk.readWhole(inner, FILE_LENGTH_MAX)) ?? new Uint8Array(0);
      found.set(inner, Buffer.from(bytes).toString("base64"));
    }
  }
  return found;
}

/** The same files on another disk. */
async function copyOf(content: ReadonlyMap<string, string>): Promise<SimDisk> {
  const disk = new SimDisk({ seed: 1 });
  for (const [path, bytes] of content) {
    if (bytes === "a folder") await disk.makeDirectory(path);
    else await disk.writeWhole(path, Buffer.from(bytes, "base64"));
  }
  return disk;
}

/** A killed server's files: streams, a topic with messages, and metadata of every kind. */
async function killedServer(): Promise<Map<string, string>> {
  const server = await TestServer.start({ config: CONFIG });
  const client = await server.login();
  for (let index = 0; index < STREAMS; index += 1) {
    await client.ok("CreateStream", encodeCreateStream({ name: `s${index}`, options: NO_OPTIONS }));
  }
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  await client.ok("SendMessages", sendBody(["a", "b", "c"]));
  await server.platform.clock.run(10);
  return contentOf(server.kill(), "");
}

function mustBeDamage(error: unknown): void {
  assert.ok(isCodedError(error, ErrorCode.MetadataDamaged), `${error}`);
}

/** Starts on the disk; true when it starts and shows everything, false when it refuses with its reason. */
async function startsWhole(disk: SimDisk, what: string): Promise<boolean> {
  const server = await TestServer.start({ disk, config: CONFIG }).catch((error: unknown) => {
    const codes = [ErrorCode.MetadataDamaged, ErrorCode.FormatTooNew];
    assert.ok(isCodedError(error) && codes.some((code) => error.code === code), `${what}: ${error}`);
    assert.match(error.message, /metadata\//, "the file is named");
  });
  if (server === undefined) return false;
  const client = await server.login(2n);
  assert.equal(decodeGetStreamsReply(await client.ok("GetStreams")).length, STREAMS, what);
  const { messages } = polled(await client.ok("PollMessages", pollBody()));
  assert.deepEqual(
    messages.map(({ text }) => text),
    ["a", "b", "c"],
    what,
  );
  await server.stop();
  return true;
}

const below = (content: ReadonlyMap<string, string>, folder: string) =>
  [...content].filter(([path]) => path.startsWith(folder));

test("A-06: One changed bit at 50 places of the metadata costs nothing or refuses the start, and deletes nothing.", async () => {
  const content = await killedServer();
  const files = below(content, "metadata/");
  const random = new SimRandom(6);
  const outcomes = new Set<boolean>();
  for (let place = 0; place < PLACES; place += 1) {
    const [path = "", bytes = ""] = files[place % files.length] ?? [];
    const disk = await copyOf(content);
    disk.flipBit(path, random.below(Buffer.from(bytes, "base64").length * 8));
    const isWhole = await startsWhole(disk, `${place}: ${path}`);
    outcomes.add(isWhole);
    const after = await contentOf(disk, "");
    for (const [stream] of below(content, "streams/")) assert.ok(after.has(stream), `${stream} is there`);
  }
  assert.deepEqual(
    outcomes,
    new Set([true, false]),
    "one bad superblock costs nothing, a bad snapshot refuses",
  );
});

test("A-06: Metadata files cut by 1 or 100 bytes, or to nothing, refuse the start or were never needed.", async () => {
  const content = await killedServer();
  for (const [path, bytes] of below(content, "metadata/")) {
    const { length } = Buffer.from(bytes, "base64");
    for (const left of [length - 1, length - 100, 0]) {
      const disk = await copyOf(content);
      const file = await disk.openFile(path, "read-write");
      await file.truncate(Math.max(0, left));
      await file.close();
      // What ends in the middle of its last record is what a kill leaves: that one op was never answered.
      const isTornJournal = path.endsWith(".wal") && left > 0;
      if (!isTornJournal) await startsWhole(disk, `${path} cut to ${left}`);
      else await TestServer.start({ disk, config: CONFIG }).then((server) => server.stop(), mustBeDamage);
      const after = await contentOf(disk, "");
      for (const [stream] of below(content, "streams/")) assert.ok(after.has(stream), `${stream} is there`);
    }
  }
});

test("A-06: Fifty starts that are killed anywhere lose nothing.", async () => {
  let disk = await copyOf(await killedServer());
  for (let kill = 0; kill < KILLS; kill += 1) {
    const dying = disk;
    let calls = 0;
    dying.setFaults(() => {
      calls += 1;
      return undefined;
    });
    const starting = TestServer.start({ disk: dying, config: CONFIG }).catch(() => undefined);
    for (let turn = 0; turn < 3 + kill * 12; turn += 1) await Promise.resolve();
    disk = dying.kill();
    disk.setFaults(undefined);
    await starting;
    assert.ok(calls > 0 || kill === 0, "a start reads its disk");
  }
  assert.equal(await startsWhole(disk, "after fifty kills"), true);
});
