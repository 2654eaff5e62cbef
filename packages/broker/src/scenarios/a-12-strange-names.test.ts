import assert from "node:assert/strict";
import { test } from "node:test";
import type { SimDisk } from "@millrace/platform/sim";
import { encodeCreateStream, encodeCreateTopic, NO_OPTIONS, toIdentifier } from "@millrace/protocol";
import { sendBody } from "../testing/test-batches.ts";
import { pollBody, polled } from "../testing/test-polls.ts";
import { TestServer } from "../testing/test-server.ts";

const STRANGE = [".DS_Store", "0.tmp", "10 (copy)", "empty"];
const FOLDER = "a folder";

/** Every folder below a path, itself included. */
async function foldersBelow(disk: SimDisk, path: string): Promise<string[]> {
  const found = [path];
  for (const { name, kind } of await disk.readDirectory(path)) {
    if (kind === "directory")
      found.push(...(await foldersBelow(disk, path === "" ? name : `${path}/${name}`)));
  }
  return found;
}

const inside = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`);

test("A-12: Strange files and folders in every data folder are ignored and stay.", async () => {
  const before = await TestServer.start();
  const client = await before.login();
  await client.ok("CreateStream", encodeCreateStream({ name: "s", options: NO_OPTIONS }));
  const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 2, options: NO_OPTIONS };
  await client.ok("CreateTopic", encodeCreateTopic(topic));
  await client.ok("SendMessages", sendBody(["a", "b"]));
  const disk = await before.stop();
  const folders = await foldersBelow(disk, "");
  assert.ok(folders.length > 8, folders.join());
  for (const folder of folders) {
    for (const name of STRANGE) {
      const bytes = new Uint8Array(name === "empty" ? 0 : 100).fill(7);
      await disk.writeWhole(inside(folder, name), bytes);
    }
    await disk.makeDirectory(inside(folder, FOLDER));
  }

  const server = await TestServer.start({ disk });
  const after = await server.login(2n);
  const { messages } = polled(await after.ok("PollMessages", pollBody()));
  assert.deepEqual(
    messages.map(({ text }) => text),
    ["a", "b"],
  );
  await after.ok("SendMessages", sendBody(["c"]));
  const left = await server.stop();
  for (const folder of folders) {
    const names = (await left.readDirectory(folder)).map(({ name }) => name);
    for (const name of [...STRANGE, FOLDER]) assert.ok(names.includes(name), inside(folder, name));
  }
});
