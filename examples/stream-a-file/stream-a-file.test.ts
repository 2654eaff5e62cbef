import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { digestOfAll, KeyHashes } from "./key-hashes.ts";
import { keyOf, linesOfFile } from "./the-file.ts";

const require = createRequire(import.meta.url);
const tsx = pathToFileURL(require.resolve("tsx")).href;
/** What the issue asks of a real file. */
const LINES_MIN = 100_000;
const START_TIMEOUT_MS = 30_000;

let folder: string;
let server: ChildProcess;
let address: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "millrace-example-"));
  const args = [serverScript(), "--data", folder, "--with-default-root-credentials"];
  const env = {
    ...process.env,
    MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
    MILLRACE_HTTP_ENABLED: "false",
    MILLRACE_WEBSOCKET_ENABLED: "false",
  };
  server = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  address = await addressOf(server);
});

after(async () => {
  const exited = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await exited;
  rmSync(folder, { recursive: true, force: true });
});

function serverScript(): string {
  const manifest = require.resolve("millrace-server/package.json");
  return join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin["millrace-server"]);
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const giveUp = () => reject(new Error(`no banner from the server; it printed:\n${text}`));
    const timer = setTimeout(giveUp, START_TIMEOUT_MS);
    child.once("exit", giveUp);
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const [, found] = /^\s*tcp\s+(\S+:\d+)\s*$/m.exec(text) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
}

function runScript(name: string): Promise<{ exitCode: number | null; output: string }> {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const env = { ...process.env, MILLRACE_ADDRESS: address };
  const child = spawn(process.execPath, [`--import=${tsx}`, script], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  return new Promise((resolve) => {
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        output += chunk.toString();
      });
    }
    child.once("close", (exitCode) => resolve({ exitCode, output }));
  });
}

test("a real file of more than 100,000 lines arrives whole, in order within each key", async () => {
  const expected = new KeyHashes();
  for await (const line of linesOfFile()) expected.add(keyOf(line), line);
  assert.ok(expected.count >= LINES_MIN);
  const digest = digestOfAll(expected.digests());

  const sent = await runScript("send.ts");
  assert.equal(sent.exitCode, 0, sent.output);
  assert.match(sent.output, new RegExp(`lines {4}${expected.count} of `));
  assert.match(sent.output, new RegExp(`sha256 {3}${digest}`));

  const checked = await runScript("check.ts");
  assert.equal(checked.exitCode, 0, checked.output);
  assert.match(checked.output, /equal: every line arrived once/);
  assert.match(checked.output, new RegExp(`sha256 {3}${digest}`));
});

test("a topic with one message too many is found out", async () => {
  const { MillraceClient } = await import("@millrace/client");
  const client = await MillraceClient.connect({ address, username: "iggy", password: "iggy" });
  const messages = [{ payload: "1.0.0.0,1.0.0.255,AU" }];
  await client.sendMessages({ stream: "files", topic: "ip-ranges", partitioning: { key: "AU" }, messages });
  await client.close();
  const checked = await runScript("check.ts");
  assert.equal(checked.exitCode, 1, checked.output);
  assert.match(checked.output, /differ {3}1 keys, for example AU/);
});
