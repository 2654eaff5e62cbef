import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { RawClient } from "../testing/raw-client.ts";
import { ServerProcess } from "../testing/server-process.ts";

const ENVIRONMENT = {
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_HTTP_ENABLED: "false",
  MILLRACE_WEBSOCKET_ENABLED: "false",
  MILLRACE_ROOT_USERNAME: "admin",
  MILLRACE_ROOT_PASSWORD: "a-long-secret",
};

const ENTRY = fileURLToPath(new URL("../../dist/bin/millrace-server.js", import.meta.url));

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-start-"));
});
after(() => rm(folder, { recursive: true, force: true }));

/** Every file below a folder with its content. */
async function contentsOf(path: string): Promise<Record<string, string>> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = files.map(async (file) => [file, await readFile(file, "base64")] as const);
  return Object.fromEntries(await Promise.all(contents));
}

async function refusal(path: string, flags: readonly string[] = []): Promise<string> {
  const server = new ServerProcess(["--data", path, ...flags], ENVIRONMENT);
  assert.equal(await server.exit(), 1, server.stdout);
  assert.equal(server.stdout, "");
  return server.stderr;
}

/** Data of a server that ran and stopped, with its format file changed. */
async function dataWith(name: string, format: object): Promise<string> {
  const path = join(folder, name);
  const server = new ServerProcess(["--data", path], ENVIRONMENT);
  await server.port();
  server.signal("SIGTERM");
  assert.equal(await server.exit(), 0, server.stderr);
  await writeFile(join(path, "millrace.format"), `${JSON.stringify(format)}\n`);
  return path;
}

test("Data of a newer format, of another product or of another node is refused with its path, and nothing is touched.", async () => {
  for (const [name, format, reason] of [
    ["newer", { product: "millrace", version: 99, nodeId: 0 }, /format 99/],
    ["other", { product: "winery", version: 1, nodeId: 0 }, /product "winery"/],
    ["node", { product: "millrace", version: 1, nodeId: 7 }, /node 7, and this is node 0/],
  ] as const) {
    const path = await dataWith(name, format);
    const untouched = await contentsOf(path);
    for (const flags of [[], ["--fresh"]]) {
      const told = await refusal(path, flags);
      assert.match(told, reason);
      assert.ok(told.includes(path), told);
      assert.deepEqual(await contentsOf(path), untouched, name);
    }
  }
});

test("Data in use is refused, the log files of its server included.", async () => {
  const path = join(folder, "busy");
  const first = new ServerProcess(["--data", path], ENVIRONMENT);
  await first.port();
  const untouched = await contentsOf(path);
  const told = await refusal(path);
  assert.match(told, /in use|another process/i);
  assert.ok(told.includes(path), told);
  assert.deepEqual(await contentsOf(path), untouched);
  first.signal("SIGTERM");
  assert.equal(await first.exit(), 0);
});

test("A path where no folder can be made or written is refused with it.", async () => {
  const file = join(folder, "a-file");
  await writeFile(file, "x");
  const paths = [join(file, "data"), "/proc/nowhere"];
  for (const path of process.platform === "linux" ? paths : paths.slice(0, 1)) {
    assert.ok((await refusal(path)).includes(path), path);
  }
});

/** Starts where no file may grow, as on a full disk; what it prints goes through pipes, which may. */
function refusalWithoutRoom(path: string): Promise<string> {
  const line = `ulimit -f 0; exec '${process.execPath}' '${ENTRY}' --data '${path}'`;
  return new Promise((resolve, reject) => {
    execFile(
      "sh",
      ["-c", line],
      { env: { ...ENVIRONMENT, PATH: process.env["PATH"] } },
      (error, _, stderr) => {
        if (error?.code === 1) resolve(stderr);
        else reject(error ?? new Error("the start was not refused"));
      },
    );
  });
}

test("A full disk refuses the start with the reason and the path, and data that is there stays as it is.", async () => {
  const empty = join(folder, "full-and-empty");
  const told = await refusalWithoutRoom(empty);
  assert.match(told, /no room/);
  assert.ok(told.includes(empty), told);
  const path = await dataWith("full", { product: "millrace", version: 1, nodeId: 0 });
  const untouched = await contentsOf(join(path, "metadata"));
  assert.match(await refusalWithoutRoom(path), new RegExp(`no room.*${path}`, "s"));
  assert.deepEqual(await contentsOf(join(path, "metadata")), untouched);
  const server = new ServerProcess(["--data", path], ENVIRONMENT);
  await server.port();
  server.signal("SIGTERM");
  assert.equal(await server.exit(), 0);
});

test("A log folder that cannot be made refuses the start with its name.", async () => {
  const server = new ServerProcess(["--data", join(folder, "no-logs")], {
    ...ENVIRONMENT,
    MILLRACE_LOGGING_PATH: "millrace.format/logs",
  });
  assert.equal(await server.exit(), 1);
  assert.match(server.stderr, /logging\.path.*millrace\.format\/logs/);
});

test("A stop answers 0, a second signal ends at once with 128 and its number.", async () => {
  const start = async () => {
    const server = new ServerProcess(["--data", join(folder, "signals")], ENVIRONMENT);
    const client = new RawClient(await server.port());
    assert.equal((await client.login("admin", "a-long-secret")).code, 0);
    client.close();
    return server;
  };
  const first = await start();
  first.signal("SIGTERM");
  first.signal("SIGINT");
  // The system hands over two signals that wait in the order of their numbers, not in that of their sending.
  assert.ok([130, 143].includes(Number(await first.exit())), first.stderr);
  const second = await start();
  second.signal("SIGINT");
  assert.equal(await second.exit(), 0, "what was cut short is taken up again");
});

test("systemd hears that the server is ready, alive and stopping; without it nothing is called.", async () => {
  const tools = join(folder, "tools");
  const heard = join(folder, "heard");
  await mkdir(tools);
  await writeFile(join(tools, "systemd-notify"), `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >>'${heard}'\n`);
  await chmod(join(tools, "systemd-notify"), 0o755);
  // Each word is a process of its own, which may outlive the server a little.
  const untilHeard = async (words: readonly string[]) => {
    const endMs = Date.now() + 15_000;
    for (;;) {
      const text = await readFile(heard, "utf8");
      if (words.every((word) => text.includes(word))) return text.trim().split("\n");
      assert.ok(Date.now() < endMs, `${words.join(" and ")} are heard, not only: ${text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const run = async (environment: Record<string, string>, running: readonly string[], end: string) => {
    await writeFile(heard, "");
    const server = new ServerProcess(["--data", join(folder, "systemd")], {
      ...ENVIRONMENT,
      PATH: `${tools}:${process.env["PATH"]}`,
      ...environment,
    });
    await server.port();
    await untilHeard(running);
    // Time for what must not be said.
    await new Promise((resolve) => setTimeout(resolve, 700));
    server.signal("SIGTERM");
    assert.equal(await server.exit(), 0, server.stderr);
    return untilHeard([end]);
  };
  const notify = { NOTIFY_SOCKET: "/run/notify", WATCHDOG_USEC: "300000" };
  const lines = await run(notify, ["--ready", "WATCHDOG=1"], "--stopping");
  for (const word of ["--ready", "WATCHDOG=1", "--stopping"]) {
    assert.ok(lines.includes(`/run/notify ${word}`), lines.join());
  }
  const others = await run({ ...notify, WATCHDOG_PID: "1" }, ["--ready"], "--stopping");
  assert.deepEqual(others, ["/run/notify --ready", "/run/notify --stopping"]);
  assert.deepEqual(await run({}, [], ""), [""]);
});

test("A taken port refuses the start, and the data folder is free again.", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as { port: number };
  const path = join(folder, "ports");
  const environment = { ...ENVIRONMENT, MILLRACE_TCP_ADDRESS: `127.0.0.1:${port}` };
  const refused = new ServerProcess(["--data", path], environment);
  assert.equal(await refused.exit(), 1);
  assert.match(refused.stderr, /EADDRINUSE|in use/);
  taken.close();
  const server = new ServerProcess(["--data", path], ENVIRONMENT);
  await server.port();
  server.signal("SIGTERM");
  assert.equal(await server.exit(), 0);
});
