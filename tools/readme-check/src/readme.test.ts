import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { codeBlocks } from "./code-blocks.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "millrace-readme-"));
const blocksOf = (path: string) => codeBlocks(readFileSync(join(root, path), "utf8"));
const readme = blocksOf("README.md");
const PACKAGE_PAGES = ["packages/client/README.md", "apps/cli/README.md", "apps/server/README.md"];
let server: ChildProcess;
let address = "";

/** The README's address is the default one; the test's server has a port of its own. */
function readdressed(code: string): string {
  return code
    .replaceAll("127.0.0.1:8090", address)
    .replaceAll("npx millrace", `npx millrace --tcp-server-address ${address}`);
}

before(async () => {
  const command = join(root, "apps", "server", "dist", "bin", "millrace-server.js");
  const env = {
    ...process.env,
    MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
    MILLRACE_WEBSOCKET_ADDRESS: "127.0.0.1:0",
    MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
    MILLRACE_PATH: join(folder, "data"),
  };
  server = spawn(process.execPath, [command, "--with-default-root-credentials"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  address = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const found = /tcp\s+(127\.0\.0\.1:\d+)/.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
    server.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
});

after(async () => {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGTERM");
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

test("the README's shell commands work in the order they stand", () => {
  const block = readme.find(({ language, code }) => language === "sh" && code.includes("npx millrace"));
  assert.ok(block !== undefined, "the README has a block of npx millrace commands");
  const run = spawnSync("bash", ["-euo", "pipefail", "-c", readdressed(block.code)], {
    cwd: root,
    encoding: "utf8",
  });
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stdout, /200 messages/);
  assert.match(run.stdout, /"order":1200/);
});

test("the commands of the page about retention work in the order they stand and show what it says", () => {
  const commands = blocksOf("docs/retention.md").filter(({ language }) => language === "sh");
  const code = ["export MILLRACE_USERNAME=iggy MILLRACE_PASSWORD=iggy", ...commands.map(({ code }) => code)];
  const run = spawnSync("bash", ["-euo", "pipefail", "-c", readdressed(code.join("\n"))], {
    cwd: root,
    encoding: "utf8",
  });
  assert.equal(run.status, 0, run.stderr);
  for (const title of ["First offset", "Expired", "Over size", "Goes next", "Held back"])
    assert.ok(run.stdout.includes(title), title);
  assert.match(run.stdout, /Sealed bytes a partition may keep +│? *21474836480/);
  assert.match(run.stdout, /No stored offset keeps a segment\./);
});

/** What a program prints, run as it stands beside the packages it imports. */
function outputOf(code: string): string {
  const file = join(root, "tools", "readme-check", "readme-program.gen.mjs");
  writeFileSync(file, readdressed(code));
  try {
    const run = spawnSync(process.execPath, [file], { encoding: "utf8", timeout: 30_000 });
    assert.equal(run.status, 0, run.stderr);
    return run.stdout;
  } finally {
    rmSync(file, { force: true });
  }
}

test("the README's program runs as it stands and says what it stored and read", () => {
  const block = readme.find(({ language }) => language === "ts");
  assert.ok(block !== undefined, "the README has a program");
  const output = outputOf(block.code);
  assert.match(output, /stored at offset 0/);
  assert.match(output, /hello, log/);
});

test("the client's quick start runs as it stands", () => {
  const block = blocksOf("packages/client/README.md").find(({ language }) => language === "js");
  assert.ok(block !== undefined, "the client's README has a program");
  const output = outputOf(block.code);
  assert.match(output, /written to partition \d+ at offset \d+/);
  assert.match(output, /item: 'tea', price: 3|"order":1001|order: 1001/);
});

/** True until the release that the first note of a change announces has been made. */
const isUnreleased = existsSync(join(root, ".changeset", "first-release.md"));

test("no page has something installed from a registry without saying that it is not there yet", () => {
  for (const path of ["README.md", ...PACKAGE_PAGES]) {
    const text = readFileSync(join(root, path), "utf8");
    assert.equal(/No release is on a registry yet/.test(text), isUnreleased, path);
  }
  const [install] = readme.filter(({ language, code }) => language === "sh" && /npm install/.test(code));
  if (isUnreleased) assert.equal(install, undefined, "the first page has no command that does not work");
});

test("the README's command for a tarball makes one", () => {
  const block = readme.find(({ language, code }) => language === "sh" && code.includes(" pack "));
  assert.ok(block !== undefined, "the README has a command that packs");
  const code = block.code.replace("../../.cache/packed", join(folder, "packed"));
  const run = spawnSync("bash", ["-euo", "pipefail", "-c", code], { cwd: root, encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr + run.stdout);
  assert.deepEqual(
    readdirSync(join(folder, "packed")).map((name) => name.replace(/[\d.]+\.tgz$/, "")),
    ["millrace-client-"],
  );
});
