import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { codeBlocks } from "./code-blocks.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "millrace-cluster-page-"));
const page = codeBlocks(readFileSync(join(root, "docs/cluster.md"), "utf8"));
const [begin = "", use = "", makeSecret = "", startNode = ""] = page
  .filter(({ language }) => language === "sh")
  .map(({ code }) => code);
const config = page.find(({ language }) => language === "toml")?.code ?? "";
const millrace = `${process.execPath} ${join(root, "apps/cli/dist/bin/millrace.js")}`;
const children = new Set<ChildProcess>();

after(async () => {
  for (const child of children) await stop(child);
  rmSync(folder, { recursive: true, force: true });
});

/** Runs commands of the page in the folder of the test. */
function run(code: string) {
  const here = code.replaceAll("npx millrace", millrace);
  return spawnSync("bash", ["-euo", "pipefail", "-c", here], { cwd: folder, encoding: "utf8" });
}

/** Starts what runs until it is stopped, and resolves with its output once that matches. */
function start(code: string, pattern: RegExp): Promise<{ child: ChildProcess; text: string }> {
  const here = code.trimEnd().replace(/npx millrace(.*)$/, `exec ${millrace}$1`);
  const child = spawn("bash", ["-c", here], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  return new Promise((resolve, reject) => {
    let [text, words] = ["", ""];
    child.stderr?.on("data", (chunk: Buffer) => {
      words = (words + chunk.toString()).slice(-2000);
    });
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (pattern.test(text)) resolve({ child, text });
    });
    child.once("exit", (exitCode) => reject(new Error(`it ended with ${exitCode}: ${text}${words}`)));
  });
}

async function stop(child: ChildProcess): Promise<number | null> {
  children.delete(child);
  if (child.exitCode !== null) return child.exitCode;
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  return ended;
}

test("A cluster on one machine loses its leader as the page shows, and keeps both messages.", {
  timeout: 120_000,
}, async () => {
  const { child, text } = await start(`${begin.trimEnd()} --port 0 --output json`, /\]\n$/);
  const nodes: { role: string; pid: number; tcp_address: string }[] = JSON.parse(text);
  const leader = nodes.find(({ role }) => role === "leader");
  const follower = nodes.find(({ role }) => role === "follower");
  assert.ok(leader !== undefined && follower !== undefined, text);
  const used = run(use.replace("127.0.0.1:8100", follower.tcp_address).replace("4711", String(leader.pid)));
  assert.equal(used.status, 0, used.stderr);
  assert.match(used.stdout, /before[\s\S]*after/);
  assert.equal(await stop(child), 0);
});

test("Three machines form the cluster of the page, and any of them takes a new stream.", {
  timeout: 120_000,
}, async () => {
  // Every machine is an address of loopback, so that the ports are those of the page.
  writeFileSync(join(folder, "cluster.toml"), config.replaceAll("10.0.0.", "127.0.7."));
  const made = run(makeSecret);
  assert.equal(made.status, 0, made.stderr);
  const nodes = [1, 2, 3].map((machine) =>
    start(
      startNode
        .replaceAll("10.0.0.1", `127.0.7.${machine}`)
        .replace("--replica-id 0", `--replica-id ${machine - 1}`)
        .replace("/var/lib/millrace", `node${machine}`),
      /^ {2}data /m,
    ),
  );
  const started = await Promise.all(nodes);
  const login = "export MILLRACE_USERNAME=admin MILLRACE_PASSWORD='a long secret'\n";
  const on = (machine: number) => `npx millrace --tcp-server-address 127.0.7.${machine}:8090`;
  // The root user is made when the cluster has formed; what a node is asked before is refused.
  const wait = `for attempt in $(seq 40); do ${on(2)} me > me.out 2>&1 && break; sleep 0.2; done`;
  const used = run(`${login}${wait}\n${on(2)} stream create shop\n${on(3)} cluster metadata --output list`);
  assert.equal(used.status, 0, used.stderr);
  assert.match(used.stdout, /leader\|healthy/);
  for (const { child } of started) assert.equal(await stop(child), 0);
});
