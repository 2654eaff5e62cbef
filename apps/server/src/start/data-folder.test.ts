import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

const ENTRY = fileURLToPath(new URL("../../dist/bin/millrace-server.js", import.meta.url));
const ENVIRONMENT = {
  PATH: process.env["PATH"] ?? "",
  MILLRACE_MEMORY_POOL_SIZE: "128 MiB",
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_HTTP_ENABLED: "false",
  MILLRACE_WEBSOCKET_ENABLED: "false",
  MILLRACE_ROOT_USERNAME: "admin",
  MILLRACE_ROOT_PASSWORD: "a-long-secret",
};
/** A start that takes longer has failed. */
const PATIENCE_MS = 30_000;

let folder = "";
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-data-folder-"));
});
after(() => rm(folder, { recursive: true, force: true }));

/** Starts a server in a working directory of its own, stops it when it is ready; what it printed. */
async function runIn(
  cwd: string,
  told: { readonly args?: readonly string[]; readonly environment?: Readonly<Record<string, string>> },
): Promise<{ readonly code: number | null; readonly text: string }> {
  const { args = [], environment = {} } = told;
  const child = spawn(process.execPath, [ENTRY, ...args], { cwd, env: { ...ENVIRONMENT, ...environment } });
  let text = "";
  let isStopped = false;
  const take = (bytes: Buffer) => {
    text += bytes;
    if (isStopped || !/ {2}data \S.*\n/.test(text)) return;
    // Once: a second signal would end it at once.
    isStopped = true;
    child.kill("SIGTERM");
  };
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const cutOff = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  clearTimeout(cutOff);
  return { code, text };
}

async function freshFolder(name: string): Promise<string> {
  const path = join(folder, name);
  await mkdir(path);
  return path;
}

test("A-15: Each way to name the data folder is heard, strange names too, and nothing else is written.", async () => {
  const cwd = await freshFolder("here");
  const names = ["plain", "with spaces in it", "größe-データ", "deep/er"];
  for (const [index, name] of names.entries()) {
    const config = join(folder, `config-${index}.toml`);
    await writeFile(config, `path = ${JSON.stringify(`${name}-file`)}\n`);
    const ways = [
      { data: `${name}-flag`, told: { args: ["--data", `${name}-flag`] } },
      { data: join(cwd, `${name}-env`), told: { environment: { MILLRACE_PATH: join(cwd, `${name}-env`) } } },
      { data: `${name}-file`, told: { args: ["--config", config] } },
    ];
    for (const { data, told } of index === 0 ? ways : [ways[index % ways.length] ?? assert.fail()]) {
      const { code, text } = await runIn(cwd, told);
      const path = data.startsWith("/") ? data : join(cwd, data);
      assert.equal(code, 0, text);
      assert.ok(text.includes(`data ${path}\n`), `the effective path is printed: ${text}`);
      assert.ok((await readdir(path)).includes("millrace.format"), path);
      await rm(path, { recursive: true });
    }
  }
  await rm(join(cwd, "deep"), { recursive: true, force: true });
  assert.deepEqual(await readdir(cwd), [], "nothing but the data folders was made");
});

test("A-15: A blank data folder is an error at the start, by flag, variable and file, and nothing is written.", async () => {
  const cwd = await freshFolder("blank");
  const config = join(folder, "blank.toml");
  await writeFile(config, 'path = "  "\n');
  const ways = [
    { args: ["--data", ""] },
    { environment: { MILLRACE_PATH: " " } },
    { args: ["--config", config] },
  ];
  for (const told of ways) {
    const { code, text } = await runIn(cwd, told);
    assert.equal(code, 1, text);
    assert.match(text, /path.*blank/);
  }
  assert.deepEqual(await readdir(cwd), []);
});

test("A-15: A data folder that cannot be written is an error at the start that names it.", async () => {
  const cwd = await freshFolder("closed");
  // Also for root: below a file, and in a file system that takes none.
  await writeFile(join(cwd, "file"), "");
  for (const data of ["file/data", "/proc/millrace-data"]) {
    const { code, text } = await runIn(cwd, { args: ["--data", data] });
    assert.equal(code, 1, text);
    assert.ok(text.includes(data), text);
  }
  assert.deepEqual(await readdir(cwd), ["file"]);
});
