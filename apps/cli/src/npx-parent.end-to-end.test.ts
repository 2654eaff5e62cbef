import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const CLI = fileURLToPath(new URL("../bin/millrace.js", import.meta.url));
const PATIENCE_MS = 30_000;
const ENVIRONMENT = {
  PATH: process.env["PATH"],
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_HTTP_ENABLED: "false",
  MILLRACE_WEBSOCKET_ENABLED: "false",
  MILLRACE_MEMORY_POOL_SIZE: "128 MiB",
};

test("A server that npx runs stops in order when npx, and the shell between them, are ended.", async () => {
  const folder = mkdtempSync(join(tmpdir(), "millrace-npx-"));
  // As npx does: a shell that waits for the command, and knows no more of it.
  const script = '"$0" "$@"; exit $?';
  const shell = spawn("sh", ["-c", script, process.execPath, CLI, "server", "--data", folder], {
    env: { ...ENVIRONMENT, npm_lifecycle_event: "npx" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const { pid = 0 } = shell;
  let [printed, log] = ["", ""];
  const cutOff = setTimeout(() => process.kill(-pid, "SIGKILL"), PATIENCE_MS);
  const ready = new Promise<void>((resolve) =>
    shell.stdout.on("data", (bytes) => {
      printed += String(bytes);
      if (/ {2}root iggy/.test(printed)) resolve();
    }),
  );
  shell.stderr.on("data", (bytes) => {
    log += String(bytes);
  });
  // Its streams are the server's too: they close when the last of the three is gone.
  const gone = once(shell, "close");
  try {
    await Promise.race([ready, gone]);
    assert.equal(shell.kill("SIGKILL"), true, log);
    await gone;
    assert.match(log, /"Stopped\."/, "and not by the limit of this test");
  } finally {
    clearTimeout(cutOff);
    rmSync(folder, { recursive: true, force: true });
  }
});
