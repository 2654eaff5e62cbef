import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  decodeGetClusterMetadataReply,
  decodeGetStreamsReply,
  EvictionReason,
  encodeCreateStream,
  NO_OPTIONS,
} from "@millrace/protocol";
import { RawClient } from "./testing/raw-client.ts";
import { ServerProcess } from "./testing/server-process.ts";
import { VERSION } from "./version.ts";

const ANY_PORT = {
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
  MILLRACE_WEBSOCKET_ADDRESS: "127.0.0.1:0",
};
const DEFAULT_ROOT = "--with-default-root-credentials";

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-server-"));
  try {
    await body(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function streamNames(port: number): Promise<string[]> {
  const client = new RawClient(port);
  assert.equal((await client.login("iggy", "iggy")).code, 0);
  const { payload } = await client.command("GetStreams");
  client.close();
  return decodeGetStreamsReply(payload).map(({ name }) => name);
}

test("The server starts, serves a login in raw bytes, stops on SIGTERM with 0, and keeps its data.", async () => {
  await withFolder(async (folder) => {
    const data = join(folder, "data");
    const first = new ServerProcess(["--data", data, DEFAULT_ROOT], ANY_PORT);
    const port = await first.port();
    assert.match(first.stdout, new RegExp(`^Millrace ${VERSION} is ready\n`));
    assert.ok(first.stdout.includes(`  data ${data}\n`), first.stdout);
    assert.match(first.stdout, /iggy\/iggy/);
    const client = new RawClient(port);
    assert.equal((await client.login("iggy", "iggy")).code, 0);
    const { nodes } = decodeGetClusterMetadataReply((await client.command("GetClusterMetadata")).payload);
    assert.deepEqual([nodes[0]?.ip, nodes[0]?.tcpPort], ["127.0.0.1", port]);
    const body = encodeCreateStream({ name: "kept", options: NO_OPTIONS });
    assert.equal((await client.command("CreateStream", body)).code, 0);
    first.signal("SIGTERM");
    assert.equal(await first.exit(), 0, first.stderr);
    client.close();

    const late = { ...ANY_PORT, MILLRACE_ROOT_USERNAME: "admin", MILLRACE_ROOT_PASSWORD: "too-late-now" };
    const second = new ServerProcess(["--path", data], late);
    assert.deepEqual(await streamNames(await second.port()), ["kept"]);
    assert.doesNotMatch(second.stdout, /root\b/, "a later start makes no root user");
    assert.match(second.stderr, /credentials in the environment are not used/);
    second.signal("SIGKILL");
    await second.exit();

    const third = new ServerProcess(["--data", data], ANY_PORT);
    assert.deepEqual(await streamNames(await third.port()), ["kept"]);
    third.signal("SIGINT");
    assert.equal(await third.exit(), 0, third.stderr);

    const fresh = new ServerProcess(["--data", data, "--fresh", DEFAULT_ROOT], ANY_PORT);
    assert.deepEqual(await streamNames(await fresh.port()), []);
    fresh.signal("SIGTERM");
    assert.equal(await fresh.exit(), 0);
  });
});

test("Without credentials a password is made, printed once, and works; a wrong one does not.", async () => {
  await withFolder(async (data) => {
    const server = new ServerProcess(["--data", data], ANY_PORT);
    const port = await server.port();
    const password = /root iggy, password ([A-Za-z0-9]{24}) /.exec(server.stdout)?.[1];
    assert.ok(password, server.stdout);
    assert.match(server.stdout, /shown only now.*MILLRACE_ROOT_USERNAME and\s+MILLRACE_ROOT_PASSWORD set/s);
    assert.equal(server.stdout.split(password).length, 2, "once");
    const client = new RawClient(port);
    assert.equal((await client.login("iggy", password)).code, 0);
    const stranger = new RawClient(port);
    assert.equal((await stranger.login("iggy", "iggy")).evictionReason, EvictionReason.InvalidCredentials);
    client.close();
    server.signal("SIGTERM");
    assert.equal(await server.exit(), 0);
    assert.doesNotMatch(server.stderr, new RegExp(password), "no password in the log");
  });
});

test("Who asks a later start for the default credentials reads that they are not those of the root user.", async () => {
  const told = /root user is from an earlier start; iggy\/iggy are not its credentials/;
  await withFolder(async (data) => {
    const run = async (args: readonly string[], environment = {}) => {
      const server = new ServerProcess(["--data", data, ...args], { ...ANY_PORT, ...environment });
      await server.port();
      server.signal("SIGTERM");
      assert.equal(await server.exit(), 0, server.stderr);
      return server.stderr;
    };
    assert.doesNotMatch(await run([]), told);
    assert.match(await run([DEFAULT_ROOT]), told);
    assert.doesNotMatch(await run([]), told, "nobody asked");
    assert.doesNotMatch(await run([DEFAULT_ROOT, "--fresh"]), told);
    assert.doesNotMatch(await run([DEFAULT_ROOT]), told, "they are");
    assert.match(await run([DEFAULT_ROOT], { MILLRACE_ROOT_USERNAME: "admin" }), /admin\/iggy are not/);
  });
});

test("A server told credentials uses them, and shows them nowhere.", async () => {
  await withFolder(async (data) => {
    const credentials = { MILLRACE_ROOT_USERNAME: "admin", MILLRACE_ROOT_PASSWORD: "a-long-secret" };
    const server = new ServerProcess(["--data", data], { ...ANY_PORT, ...credentials });
    const client = new RawClient(await server.port());
    assert.equal((await client.login("admin", "a-long-secret")).code, 0);
    client.close();
    server.signal("SIGTERM");
    assert.equal(await server.exit(), 0);
    const config = await readFile(join(data, "runtime", "current_config.toml"), "utf8");
    assert.doesNotMatch(server.stdout + server.stderr + config, /a-long-secret/);
    assert.match(config, /127\.0\.0\.1:\d+/);
  });
});

test("A password that was given is not printed, not even beside the flag for the default one.", async () => {
  await withFolder(async (data) => {
    const environment = { ...ANY_PORT, IGGY_ROOT_PASSWORD: "a-long-secret" };
    const server = new ServerProcess(["--data", data, DEFAULT_ROOT], environment);
    const client = new RawClient(await server.port());
    assert.equal((await client.login("iggy", "a-long-secret")).code, 0);
    client.close();
    server.signal("SIGTERM");
    assert.equal(await server.exit(), 0);
    assert.match(server.stdout, /root iggy, with the password you gave/);
    assert.doesNotMatch(server.stdout + server.stderr, /a-long-secret/);
  });
});

test("A start that cannot be exits 1 with the reason and the path, and touches nothing.", async () => {
  await withFolder(async (folder) => {
    const data = join(folder, "data");
    const running = new ServerProcess(["--data", data, DEFAULT_ROOT], ANY_PORT);
    await running.port();
    const refused = async (args: string[], environment: Record<string, string> = {}) => {
      const server = new ServerProcess(args, { ...ANY_PORT, ...environment });
      assert.equal(await server.exit(), 1);
      assert.equal(server.stdout, "");
      return server.stderr;
    };
    assert.match(await refused(["--data", data]), /in use|another process/i);
    assert.match(await refused(["--data", data, "--fresh"]), /in use|another process/i);

    const foreign = join(folder, "foreign");
    await mkdir(foreign);
    await writeFile(join(foreign, "photo.jpg"), "x");
    assert.ok((await refused(["--data", foreign])).includes(foreign));
    assert.ok((await refused(["--data", foreign, "--fresh"])).includes(foreign));
    assert.deepEqual(
      (await readdir(foreign)).filter((name) => !name.startsWith("millrace.")),
      ["photo.jpg"],
    );

    const newer = join(folder, "newer");
    await mkdir(newer);
    await writeFile(join(newer, "millrace.format"), '{"product":"millrace","version":99,"nodeId":0}\n');
    assert.match(await refused(["--data", newer]), /format 99/);

    assert.match(await refused(["--data", "  "]), /path is blank/);
    assert.match(await refused(["--no-such-flag"]), /no-such-flag.*--help/);
    assert.match(
      await refused([], { MILLRACE_ROOT_USERNAME: "admin", MILLRACE_PATH: join(folder, "x") }),
      /Set both/,
    );
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    const environment = { ...ANY_PORT, MILLRACE_TCP_ADDRESS: `127.0.0.1:${port}` };
    assert.match(await refused(["--data", join(folder, "y"), DEFAULT_ROOT], environment), /EADDRINUSE/);
    taken.close();
    running.signal("SIGTERM");
    assert.equal(await running.exit(), 0, "the running server is not harmed");
  });
});

test("A first start that fails behind the making of the root user tells his password all the same.", async () => {
  await withFolder(async (folder) => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    const args = ["--data", join(folder, "data")];
    const failed = new ServerProcess(args, { ...ANY_PORT, MILLRACE_TCP_ADDRESS: `127.0.0.1:${port}` });
    assert.equal(await failed.exit(), 1);
    taken.close();
    const password = / {2}root iggy, password (\w{24}) /.exec(failed.stdout)?.[1] ?? "";
    const server = new ServerProcess(args, ANY_PORT);
    const client = new RawClient(await server.port());
    assert.equal((await client.login("iggy", password)).code, 0);
    client.close();
    server.signal("SIGTERM");
    assert.equal(await server.exit(), 0);
  });
});

test("A folder that cannot be written is refused.", { skip: process.getuid?.() === 0 }, async () => {
  await withFolder(async (folder) => {
    await chmod(folder, 0o500);
    const server = new ServerProcess(["--data", folder], ANY_PORT);
    assert.equal(await server.exit(), 1);
    assert.ok(server.stderr.includes(folder));
    await chmod(folder, 0o700);
  });
});

test("--help and --version print and exit 0.", async () => {
  const help = new ServerProcess(["--help"]);
  assert.equal(await help.exit(), 0);
  assert.match(help.stdout, /--with-default-root-credentials/);
  const version = new ServerProcess(["--version"]);
  assert.equal(await version.exit(), 0);
  assert.equal(version.stdout, `millrace-server ${VERSION}\n`);
  const manifest = await readFile(new URL("../package.json", import.meta.url), "utf8");
  assert.equal(JSON.parse(manifest).version, VERSION);
});
