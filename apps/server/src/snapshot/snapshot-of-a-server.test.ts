import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  decodeCreatePersonalAccessTokenReply,
  encodeCreatePersonalAccessToken,
  encodeCreateStream,
  encodeCreateUser,
  encodeGetSnapshot,
  NO_OPTIONS,
} from "@millrace/protocol";
import { unzipSync } from "fflate";
import { RawClient } from "../testing/raw-client.ts";
import { ServerProcess } from "../testing/server-process.ts";

const JWT_SECRET = "hush-hush-and-32-bytes-of-silence";
const USER_PASSWORD = "the-password-of-a-user";
const ROOT_PASSWORD = "the-password-of-the-root";

const ENVIRONMENT = {
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
  MILLRACE_WEBSOCKET_ENABLED: "false",
  MILLRACE_LOGGING_LEVEL: "trace",
  MILLRACE_HTTP_JWT_ENCODING_SECRET: JWT_SECRET,
  MILLRACE_ROOT_USERNAME: "admin",
  MILLRACE_ROOT_PASSWORD: ROOT_PASSWORD,
};

type Files = Readonly<Record<string, string>>;

function filesOf(zip: Uint8Array): Files {
  const decoder = new TextDecoder();
  return Object.fromEntries(
    Object.entries(unzipSync(zip)).map(([name, bytes]) => [name, decoder.decode(bytes)]),
  );
}

/** Makes everything that has a secret, and answers with the secrets. */
async function useSecrets(client: RawClient): Promise<string[]> {
  const user = {
    username: "anna",
    password: USER_PASSWORD,
    status: "active",
    permissions: undefined,
    options: NO_OPTIONS,
  } as const;
  assert.equal((await client.command("CreateUser", encodeCreateUser(user))).code, 0);
  const token = encodeCreatePersonalAccessToken({ name: "ci", expiryMicros: 0n });
  const { payload } = await client.command("CreatePersonalAccessToken", token);
  return [JWT_SECRET, USER_PASSWORD, ROOT_PASSWORD, decodeCreatePersonalAccessTokenReply(payload)];
}

async function httpSnapshot(base: string, body: object, credentials: object) {
  const headers = { "content-type": "application/json" };
  const login = await fetch(`${base}/users/login`, {
    method: "POST",
    headers,
    body: JSON.stringify(credentials),
  });
  const { access_token: access } = (await login.json()) as { access_token: { token: string } };
  const answer = await fetch(`${base}/snapshot`, {
    method: "POST",
    headers: { ...headers, authorization: `Bearer ${access.token}` },
    body: JSON.stringify(body),
  });
  return { answer, token: access.token };
}

test("A snapshot over TCP and over HTTP holds every part, the log and the configuration, and no secret.", async () => {
  const data = await mkdtemp(join(tmpdir(), "millrace-snapshot-"));
  const server = new ServerProcess(["--data", data], ENVIRONMENT);
  try {
    const port = await server.port();
    const client = new RawClient(port);
    assert.equal((await client.login("admin", ROOT_PASSWORD)).code, 0);
    const secrets = await useSecrets(client);
    const body = encodeCreateStream({ name: "orders", options: NO_OPTIONS });
    assert.equal((await client.command("CreateStream", body)).code, 0);

    const asked = encodeGetSnapshot({ compression: "deflated", types: ["all"] });
    const { code, payload } = await client.command("GetSnapshot", asked);
    assert.equal(code, 0);
    const overTcp = filesOf(payload);
    const credentials = { username: "admin", password: ROOT_PASSWORD };
    const { answer, token } = await httpSnapshot(server.http(), { compression: "Stored" }, credentials);
    assert.equal(answer.status, 200);
    assert.match(
      answer.headers.get("content-disposition") ?? "",
      /filename="iggy_snapshot_\d{8}_\d{6}\.zip"/,
    );
    const overHttp = filesOf(new Uint8Array(await answer.arrayBuffer()));
    assert.deepEqual(Object.keys(overHttp), Object.keys(overTcp));

    for (const files of [overTcp, overHttp]) checkParts(files, { data, port, secrets: [...secrets, token] });
    const { answer: denied } = await httpSnapshot(
      server.http(),
      {},
      { username: "anna", password: USER_PASSWORD },
    );
    assert.equal(denied.status, 403);
    const { answer: unbuilt } = await httpSnapshot(server.http(), { compression: "Xz" }, credentials);
    assert.deepEqual([unbuilt.status, ((await unbuilt.json()) as { id: number }).id], [400, 5]);
    client.close();
    server.signal("SIGTERM");
    assert.equal(await server.exit(), 0, server.stderr);
    await checkLogFile(data, server.stderr, [...secrets, token]);
  } finally {
    server.signal("SIGKILL");
    await rm(data, { recursive: true, force: true });
  }
});

function checkParts(
  files: Files,
  { data, port, secrets }: { data: string; port: number; secrets: string[] },
): void {
  assert.equal(files["skipped.txt"], undefined);
  assert.ok(files["filesystem_overview.txt"]?.includes(`data ${data}\n`));
  assert.match(files["filesystem_overview.txt"] ?? "", /^directory metadata$/m);
  assert.match(files["process_list.txt"] ?? "", /^ +\d+ +\d+ [A-Z] +\d+ \S+/m);
  assert.match(files["resource_usage.txt"] ?? "", /^processId \d+$[\s\S]*^streams 1$/m);
  assert.match(files["server_logs.txt"] ?? "", /The listeners are open\./);
  assert.match(files["server_config.toml"] ?? "", new RegExp(`address = "127\\.0\\.0\\.1:${port}"`));
  for (const [name, text] of Object.entries(files)) {
    for (const secret of secrets) assert.ok(!text.includes(secret), `${name} shows ${secret}`);
  }
}

async function checkLogFile(data: string, stderr: string, secrets: string[]): Promise<void> {
  const path = join(data, "logs", "millrace-server.log");
  const log = await readFile(path, "utf8");
  assert.equal(log, stderr, "the file and standard error say the same, to the last line");
  assert.match(log, /"msg":"Stopped\."/);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  for (const secret of secrets) assert.ok(!log.includes(secret), `the log shows ${secret}`);
}

test("Log files go where the configuration says, are put aside when full, and none are written when off.", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-logs-"));
  const environment = {
    ...ENVIRONMENT,
    MILLRACE_HTTP_ENABLED: "false",
    MILLRACE_LOGGING_PATH: join(folder, "elsewhere"),
    MILLRACE_LOGGING_MAX_FILE_SIZE: "100 B",
    MILLRACE_LOGGING_MAX_TOTAL_SIZE: "10 KB",
  };
  const run = async (changes: Record<string, string>) => {
    const server = new ServerProcess(["--data", join(folder, "data")], { ...environment, ...changes });
    await server.port();
    server.signal("SIGTERM");
    assert.equal(await server.exit(), 0, server.stderr);
    return server;
  };
  try {
    await run({});
    await run({});
    const names = await readdir(join(folder, "elsewhere"));
    assert.ok(names.includes("millrace-server.log") && names.length > 2, names.join());
    await run({ MILLRACE_LOGGING_FILE_ENABLED: "false", MILLRACE_LOGGING_PATH: "off" });
    assert.ok(!(await readdir(join(folder, "data"))).includes("off"));
    const fresh = new ServerProcess(["--data", join(folder, "data"), "--fresh"], {
      ...environment,
      MILLRACE_LOGGING_PATH: "logs/of/mine",
    });
    await fresh.port();
    fresh.signal("SIGTERM");
    assert.equal(await fresh.exit(), 0, fresh.stderr);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
