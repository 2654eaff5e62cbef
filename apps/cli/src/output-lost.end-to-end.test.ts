import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { CLI } from "./fakes/server-under-test.ts";

/** A device whose every write fails as on a full disk. */
const FULL_DISK = "/dev/full";
const ENVIRONMENT = { PATH: process.env["PATH"], MILLRACE_HOME: `${tmpdir()}/millrace-no-home` };

function runOnFullDisk(args: readonly string[]) {
  const stdout = openSync(FULL_DISK, "w");
  try {
    const stdio = ["ignore", stdout, "pipe"] as const;
    return spawnSync(process.execPath, [CLI, ...args], { env: ENVIRONMENT, stdio: [...stdio] });
  } finally {
    closeSync(stdout);
  }
}

test("An answer that a full disk did not take is a failure, said on stderr.", {
  skip: !existsSync(FULL_DISK) && "only Linux has such a device",
}, () => {
  const table = runOnFullDisk(["context", "list"]);
  assert.equal(table.status, 1);
  assert.match(
    String(table.stderr),
    /error: Standard output cannot grow: its disk is full\. .*\n[\s\S]* next: Free/,
  );
  const json = runOnFullDisk(["context", "list", "--output", "json"]);
  assert.equal(json.status, 1);
  assert.equal(JSON.parse(String(json.stderr)).error.exit_code, 1);
  assert.equal(runOnFullDisk(["--help"]).status, 1);
});
