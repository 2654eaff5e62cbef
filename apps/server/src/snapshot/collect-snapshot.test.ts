import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { createSimPlatform } from "@millrace/platform/sim";
import type { GetSnapshot } from "@millrace/protocol";
import { unzipSync } from "fflate";
import { createSnapshotCollector } from "./collect-snapshot.ts";
import { listFiles } from "./list-files.ts";

async function collected(asked: GetSnapshot, changes: { metricsText?: () => Promise<string> } = {}) {
  const platform = createSimPlatform({ seed: 1 });
  await platform.disk.makeDirectory("streams/1");
  await platform.disk.writeWhole("streams/1/a.log", new Uint8Array(7));
  const collect = createSnapshotCollector({
    platform,
    logDisk: undefined,
    metricsText: async () => "streams 1\n",
    configText: () => 'path = "/data"\n',
    ...changes,
  });
  const collecting = collect(asked);
  collecting.catch(() => {});
  await platform.clock.run(10_000);
  const files = unzipSync(await collecting);
  return Object.fromEntries(
    Object.entries(files).map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]),
  );
}

test("All stands for every part, each a file of its own with its facts.", async () => {
  const files = await collected({ compression: "deflated", types: ["all"] });
  assert.deepEqual(Object.keys(files).sort(), [
    "filesystem_overview.txt",
    "process_list.txt",
    "resource_usage.txt",
    "server_config.toml",
    "server_logs.txt",
    "test.txt",
  ]);
  assert.match(
    files["filesystem_overview.txt"] ?? "",
    /^directory streams\ndirectory streams\/1\n7 streams\/1\/a\.log$/m,
  );
  assert.match(files["process_list.txt"] ?? "", /^ +1 +0 R +1 sim$/m);
  assert.match(files["resource_usage.txt"] ?? "", /^hostname sim$[\s\S]*^streams 1$/m);
  assert.equal(files["server_config.toml"], 'path = "/data"\n');
  assert.match(files["server_logs.txt"] ?? "", /file_enabled is false/);
});

test("Only what is asked for is collected, and once.", async () => {
  const files = await collected({ compression: "stored", types: ["test", "serverConfig", "test"] });
  assert.deepEqual(Object.keys(files), ["test.txt", "server_config.toml"]);
});

test("A part that fails or hangs is left out with its reason, and the others are there.", async () => {
  const asked: GetSnapshot = { compression: "stored", types: ["test", "resourceUsage"] };
  const failed = await collected(asked, { metricsText: () => Promise.reject(new Error("no metrics today")) });
  assert.deepEqual(Object.keys(failed), ["test.txt", "skipped.txt"]);
  assert.equal(failed["skipped.txt"], "resource_usage.txt: no metrics today\n");
  const hung = await collected(asked, { metricsText: () => new Promise(() => {}) });
  assert.match(hung["skipped.txt"] ?? "", /longer than 4000 ms/);
});

test("A part longer than 8 MiB is cut there.", async () => {
  const metricsText = async () => "x".repeat(9 * 1024 * 1024);
  const files = await collected({ compression: "deflated", types: ["resourceUsage"] }, { metricsText });
  assert.equal(files["resource_usage.txt"]?.length, 8 * 1024 * 1024);
});

test("A compression that is not built is refused before anything is collected.", async () => {
  const metricsText = () => assert.fail("nothing is collected");
  await assert.rejects(collected({ compression: "xz", types: ["all"] }, { metricsText }), (error) =>
    isCodedError(error, ErrorCode.FeatureUnavailable),
  );
});

test("The list of files ends at its bound and says so.", async () => {
  const { disk } = createSimPlatform({ seed: 1 });
  for (const name of ["a", "b", "c"]) await disk.writeWhole(name, new Uint8Array(1));
  assert.deepEqual(await listFiles(disk, 2), { lines: ["1 a", "1 b"], isWhole: false });
  assert.deepEqual(await listFiles(disk, 3), { lines: ["1 a", "1 b", "1 c"], isWhole: true });
});
