import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { xxh3_64 } from "@millrace/framing";
import type { DiskCall, DiskFault, SimDisk } from "@millrace/platform/sim";
import {
  decodeSendMessagesReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeleteTopic,
  encodePurgeTopic,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import type { TestClient } from "../testing/test-client.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const FOLDER = "streams/0/topics/0/partitions";
const TARGET = { stream: toIdentifier(0), topic: toIdentifier(0) };
const EIO: DiskFault = { kind: "error", errno: "EIO" };

/** What a killed server with one topic leaves: three messages in partition 0. */
async function left(partitionsCount = 1): Promise<SimDisk> {
  const server = await TestServer.start();
  const client = await server.login();
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  for (const text of ["a", "b", "c"]) await client.ok("SendMessages", sendBody([text]));
  return server.kill();
}

/** Starts on a disk where the partitions' `.ops` cannot be opened until `mend`; counts who tried. */
async function startSick(disk: SimDisk, fault: DiskFault, shards: { readonly shardsCount?: number } = {}) {
  const tried: string[] = [];
  disk.setFaults(({ kind, path }: DiskCall) => {
    if (kind !== "open" || !path.startsWith(FOLDER) || !path.endsWith(".ops")) return undefined;
    tried.push(path);
    return fault;
  });
  const server = await TestServer.start({ disk, ...shards });
  return { server, client: await server.login(2n), tried, mend: () => disk.setFaults(undefined) };
}

const textsOf = async (client: TestClient) =>
  polled(await client.ok("PollMessages", pollBody())).messages.map(({ text }) => text);

const codeOf = async (client: TestClient, name: "SendMessages" | "PollMessages") =>
  (await client.command(name, name === "SendMessages" ? sendBody(["d"]) : pollBody())).code;

async function sent(client: TestClient, text: string): Promise<number | undefined> {
  return decodeSendMessagesReply(await client.ok("SendMessages", sendBody([text])))[0]?.baseOffset;
}

describe("a partition that the disk refuses to open", () => {
  it("answers with the reason and opens by itself once the disk does, with all that was there", async () => {
    for (const errno of ["EIO", "EMFILE", "ENFILE"]) {
      const { server, client, mend } = await startSick(await left(), { kind: "error", errno });
      assert.equal(await codeOf(client, "SendMessages"), ErrorCode.IoError);
      assert.equal(await codeOf(client, "PollMessages"), ErrorCode.IoError);
      mend();
      assert.equal(await codeOf(client, "SendMessages"), ErrorCode.IoError, "nobody has tried again yet");
      await server.platform.clock.run(1100);
      assert.equal(await sent(client, "d"), 3);
      assert.deepEqual(await textsOf(client), ["a", "b", "c", "d"]);
      await server.stop();
    }
  });

  it("is tried ever more seldom, down to once a minute", async () => {
    const { server, client, tried } = await startSick(await left(), EIO);
    const triesWithin = async (ms: number) => {
      tried.length = 0;
      await server.platform.clock.run(ms);
      return tried.length;
    };
    assert.equal(await triesWithin(900), 0);
    assert.equal(await triesWithin(8000), 3, "after one second, two and four");
    await triesWithin(120_000);
    assert.equal(await triesWithin(600_000), 10);
    assert.equal(await codeOf(client, "PollMessages"), ErrorCode.IoError);
    await server.stop();
  });

  it("waits for its turn among many: a shard asks the disk twenty times a second at most", async () => {
    const { server, tried, mend, client } = await startSick(await left(60), EIO, { shardsCount: 1 });
    tried.length = 0;
    await server.platform.clock.run(1990);
    assert.ok(tried.length > 5 && tried.length <= 20, `${tried.length} tries in the first second`);
    await server.platform.clock.run(2500);
    assert.equal(new Set(tried).size, 60, "each had its turn");
    mend();
    await server.platform.clock.run(60_000);
    assert.deepEqual(await textsOf(client), ["a", "b", "c"]);
    await server.stop();
  });

  it("does first what was purged meanwhile", async () => {
    const { server, client, mend } = await startSick(await left(), EIO);
    await client.ok("PurgeTopic", encodePurgeTopic(TARGET));
    mend();
    await server.platform.clock.run(1100);
    assert.equal(await sent(client, "first"), 0);
    assert.deepEqual(await textsOf(client), ["first"]);
    await server.stop();
  });

  it("is not tried any more once it is deleted, and its files go", async () => {
    const { server, client, tried, mend } = await startSick(await left(), EIO);
    await client.ok("DeleteTopic", encodeDeleteTopic(TARGET));
    tried.length = 0;
    await server.platform.clock.run(200_000);
    assert.deepEqual(tried, []);
    mend();
    assert.deepEqual(await server.platform.disk.readDirectory(FOLDER), []);
    await server.stop();
  });

  it("is left alone when no disk will change its mind: a format that is too new", async () => {
    const disk = await left();
    const path = await opsOf(disk);
    const bytes = (await disk.readWhole(path, 1_000_000))?.slice() ?? new Uint8Array();
    bytes[12] = 2;
    const view = new DataView(bytes.buffer);
    view.setBigUint64(0, xxh3_64(bytes.subarray(8, 128 + view.getUint32(112, true))), true);
    await disk.writeWhole(path, bytes);
    const server = await TestServer.start({ disk });
    const client = await server.login(2n);
    assert.equal(await codeOf(client, "PollMessages"), ErrorCode.FormatTooNew);
    let calls = 0;
    server.platform.disk.setFaults(({ path: one }) => {
      if (one.startsWith(FOLDER)) calls += 1;
      return undefined;
    });
    await server.platform.clock.run(200_000);
    assert.equal(calls, 0);
    await server.stop();
  });

  it("for writing because it is full serves what it has, and takes messages once there is space", async () => {
    const disk = await left();
    const path = await opsOf(disk);
    const bytes = (await disk.readWhole(path, 1_000_000)) ?? new Uint8Array();
    // A torn record, which is kept aside before it is cut.
    await disk.writeWhole(path, Uint8Array.from([...bytes, 1, 2, 3]));
    disk.setFaults(({ kind, path: one }) =>
      kind === "write" && one.startsWith("quarantine") ? { kind: "error", errno: "ENOSPC" } : undefined,
    );
    const server = await TestServer.start({ disk });
    const client = await server.login(2n);
    assert.equal(await codeOf(client, "SendMessages"), ErrorCode.DiskFull);
    await server.platform.clock.run(20_000);
    assert.equal(await codeOf(client, "SendMessages"), ErrorCode.DiskFull);
    assert.deepEqual(await textsOf(client), ["a", "b", "c"]);
    disk.setFaults(undefined);
    await server.platform.clock.run(20_000);
    assert.equal(await sent(client, "d"), 3);
    assert.deepEqual(await textsOf(client), ["a", "b", "c", "d"]);
    await server.stop();
  });
});

describe("a partition that finds no file handle when it is written", () => {
  it("refuses with the reason and goes on within a second once there are handles again", async () => {
    const server = await TestServer.start({ disk: await left() });
    const client = await server.login(2n);
    server.platform.disk.setFaults(({ kind, path }) =>
      kind === "write" && path.startsWith(FOLDER) ? { kind: "error", errno: "EMFILE" } : undefined,
    );
    assert.equal(await codeOf(client, "SendMessages"), ErrorCode.IoError);
    server.platform.disk.setFaults(undefined);
    await server.platform.clock.run(1100);
    await client.command("SendMessages", sendBody(["finds that there are some"]));
    await server.platform.clock.run(10);
    const before = (await textsOf(client)).length;
    assert.equal(await sent(client, "d"), before);
    assert.deepEqual((await textsOf(client)).slice(0, 3), ["a", "b", "c"]);
    await server.stop();
  });
});

/** The op records of the partition that holds the messages. */
async function opsOf(disk: SimDisk): Promise<string> {
  const [folder] = await disk.readDirectory(FOLDER);
  return `${FOLDER}/${folder?.name}/${"0".padStart(20, "0")}.ops`;
}
