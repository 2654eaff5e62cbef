#!/usr/bin/env node
// The two commands of a fresh clone: `npm start` and `npm test`. Needs only Node and npm, imports only `node:` modules.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const pnpmVersion = manifest.devDependencies.pnpm;
const cachedPnpm = join(root, ".cache", "pnpm");
const npm = process.platform === "win32" ? "npm.cmd" : "npm";

const environment = {
  ...process.env,
  PATH: [join(root, "node_modules", ".bin"), join(cachedPnpm, "node_modules", ".bin"), process.env.PATH].join(
    delimiter,
  ),
  TURBO_TELEMETRY_DISABLED: "1",
  TURBO_NO_UPDATE_NOTIFIER: "1",
  DO_NOT_TRACK: "1",
};

/** Stops with a sentence for the person at the terminal. */
function fail(sentence) {
  console.error(`\n${sentence}`);
  process.exit(1);
}

/** How often a task looks whether the npm that started it is still there. */
const PARENT_CHECK_MS = 300;
const parent = process.ppid;
/** What a shell reports for a program that SIGTERM ended. */
const STOPPED = 143;
/** The first signal that asked us to stop: what would come next is not begun. */
let stopSignal;

/** npm passes SIGTERM to its shell only, which ends without telling us: then nobody else would stop the server. */
function hasLostNpm() {
  return process.env.npm_lifecycle_event !== undefined && process.ppid !== parent;
}

/**
 * Runs a program to its end. `quiet` keeps its output back unless it fails; `watch` sees every chunk of it.
 * Signals go on to it; but Ctrl-C at a terminal reaches it by itself, and a second signal would cut its stop short.
 */
function run(program, args, { quiet = false, watch } = {}) {
  return new Promise((resolve) => {
    const stdio = quiet || watch !== undefined ? ["ignore", "pipe", "pipe"] : "inherit";
    const child = spawn(program, args, { cwd: root, env: environment, stdio });
    let kept = "";
    const onOutput = (stream) => (chunk) => {
      if (quiet) kept += chunk;
      else stream.write(chunk);
      watch?.(String(chunk));
    };
    child.stdout?.on("data", onOutput(process.stdout));
    child.stderr?.on("data", onOutput(process.stderr));
    const forward = (signal) => {
      stopSignal ??= signal;
      child.kill(signal);
    };
    const interrupted = (signal) => {
      if (process.stdin.isTTY === true) stopSignal ??= signal;
      else forward(signal);
    };
    process.on("SIGINT", interrupted);
    process.on("SIGTERM", forward);
    const watchParent = setInterval(() => hasLostNpm() && forward("SIGTERM"), PARENT_CHECK_MS);
    child.on("error", (error) => fail(`Could not run ${program}: ${error.message}`));
    child.on("close", (code, signal) => {
      process.off("SIGINT", interrupted);
      process.off("SIGTERM", forward);
      clearInterval(watchParent);
      if (quiet && stopSignal !== undefined) process.exit(STOPPED); // a step before the last one: the rest is not begun
      if (quiet && code !== 0) process.stderr.write(kept);
      resolve(code ?? (signal === null ? 1 : 128));
    });
  });
}

/** Refuses a Node that is too old before anything strange can happen. */
function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(
    `Millrace needs Node 20.19 or newer; this is Node ${process.versions.node}. Install a newer Node and try again.`,
  );
}

/** True when the last install is newer than everything that decides what an install brings. */
function isInstalled() {
  const mark = join(root, "node_modules", ".modules.yaml");
  if (!existsSync(mark)) return false;
  const installedAt = statSync(mark).mtimeMs;
  return ["pnpm-lock.yaml", "package.json"].every(
    (name) => statSync(join(root, name)).mtimeMs <= installedAt,
  );
}

async function install() {
  if (isInstalled()) return;
  console.log("Installing dependencies (once; later starts skip this) ...");
  const inCache = join(cachedPnpm, "node_modules", "pnpm", "bin", "pnpm.cjs");
  if (!existsSync(inCache)) {
    const bring = [
      "install",
      "--prefix",
      cachedPnpm,
      "--no-save",
      "--no-audit",
      "--no-fund",
      `pnpm@${pnpmVersion}`,
    ];
    if ((await run(npm, bring, { quiet: true })) !== 0)
      fail("npm could not bring pnpm. Is the package registry reachable?");
  }
  const code = await run(process.execPath, [inCache, "install", "--frozen-lockfile"], { quiet: true });
  if (code !== 0) fail("The dependencies could not be installed; the lines above say why.");
}

async function build(workspaces, force) {
  console.log("Building ...");
  const args = ["run", "build", "--output-logs=errors-only", "--log-prefix=none"];
  for (const workspace of workspaces) args.push(`--filter=${workspace}`);
  if (force) args.push("--force");
  const code = await run("turbo", args, { quiet: true });
  if (code !== 0) fail("The build failed; the lines above say why.");
}

/** `npm start`: a server on loopback with a default root user, unless the caller says otherwise. */
async function start(serverArgs) {
  await build(["millrace-server", "millrace"], false);
  const ownCredentials = ["MILLRACE_ROOT_USERNAME", "IGGY_ROOT_USERNAME"].some(
    (name) => process.env[name] !== undefined,
  );
  const credentials = ownCredentials ? [] : ["--with-default-root-credentials"];
  const entry = join(
    root,
    "apps",
    "server",
    JSON.parse(readFileSync(join(root, "apps/server/package.json"), "utf8")).bin["millrace-server"],
  );
  process.exit(await run(process.execPath, [entry, ...credentials, ...serverArgs]));
}

/** `npm test`: format, types, then every package's tests; ends with one line of totals. */
async function test() {
  const inCi = process.env.CI === "true";
  await build([], inCi);
  if ((await run("biome", ["check", "."])) !== 0)
    fail("Formatting or lint rules are broken; `npm run format` mends most of them.");
  if ((await run("tsc", ["-p", "tsconfig.check.json"])) !== 0)
    fail("The types do not fit; the lines above say where.");
  const totals = { pass: 0, fail: 0, cancelled: 0, skipped: 0 };
  const watch = lineReader((line) => {
    const match = /ℹ (pass|fail|cancelled|skipped) (\d+)/.exec(line);
    if (match !== null) totals[match[1]] += Number(match[2]);
  });
  const args = ["run", "test", "--output-logs=full", "--log-prefix=none", "--concurrency=2", "--continue"];
  const code = await run("turbo", args, { watch });
  console.log(`\n${totals.pass} passed, ${totals.fail + totals.cancelled} failed, ${totals.skipped} skipped`);
  process.exit(code);
}

/** Hands over whole lines of a stream that arrives in chunks. */
function lineReader(onLine) {
  let rest = "";
  return (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(onLine);
  };
}

const [task, ...rest] = process.argv.slice(2);
checkNode();
await install();
if (task === "start") await start(rest);
else if (task === "test") await test();
else if (task === "build") await build([], false);
else fail("Usage: npm start [-- server options] | npm test");
