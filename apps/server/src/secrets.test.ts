import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  decodeCreatePersonalAccessTokenReply,
  EvictionReason,
  encodeChangePassword,
  encodeCreatePersonalAccessToken,
  encodeCreateStream,
  encodeCreateUser,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { RawClient } from "./testing/raw-client.ts";
import { ServerProcess } from "./testing/server-process.ts";

const DEFAULT_ROOT = "--with-default-root-credentials";
/** Every level of the log, few tokens, and a snapshot within the reach of a test. */
const ENVIRONMENT = {
  MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
  MILLRACE_LOGGING_LEVEL: "trace",
  MILLRACE_METADATA_JOURNAL_SLOTS: "256",
  MILLRACE_PERSONAL_ACCESS_TOKEN_MAX_TOKENS_PER_USER: "3",
};
const TOKEN_LIMIT = 52;
/** Operations after which the metadata are in a snapshot for certain. */
const OPERATIONS = 270;

/** Passwords that quoting, terminators, encodings and lengths get wrong. */
const UNUSUAL = [`quote'"\\end`, "nul\u0000inside", "\u{1f511}\u{1f409}-key", "y".repeat(100), "two\nlines"];

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function clientOf(port: number, id: bigint, username: string, password: string): Promise<RawClient> {
  const client = new RawClient(port, id);
  const { code, evictionReason } = await client.login(username, password);
  assert.deepEqual([code, evictionReason], [0, undefined], username);
  return client;
}

async function makeUser(root: RawClient, username: string, password: string): Promise<void> {
  const facts = { status: "active", permissions: undefined, options: NO_OPTIONS } as const;
  const made = await root.command(
    "CreateUser",
    encodeCreateUser({ username, password: `old-of-${username}`, ...facts }),
  );
  assert.equal(made.code, 0);
  const body = encodeChangePassword({
    user: toIdentifier(username),
    currentPassword: `old-of-${username}`,
    newPassword: password,
  });
  assert.equal((await root.command("ChangePassword", body)).code, 0);
}

async function makeTokens(client: RawClient): Promise<string[]> {
  const create = (name: string) =>
    client.command("CreatePersonalAccessToken", encodeCreatePersonalAccessToken({ name, expiryMicros: 0n }));
  const answers = [await create("one"), await create("two"), await create("three")];
  assert.equal((await create("four")).code, TOKEN_LIMIT);
  return answers.map(({ payload }) => decodeCreatePersonalAccessTokenReply(payload));
}

test("No password and no token is in a file or in the log, whatever its characters, and a kill loses none.", async () => {
  const data = await mkdtemp(join(tmpdir(), "millrace-secrets-"));
  try {
    const first = new ServerProcess(["--data", data, DEFAULT_ROOT], ENVIRONMENT);
    const port = await first.port();
    const root = await clientOf(port, 1n, "iggy", "iggy");
    for (const [index, password] of UNUSUAL.entries()) await makeUser(root, `user-${index}`, password);
    const tokens = await makeTokens(root);
    for (let index = 0; index < OPERATIONS; index += 1) {
      const body = encodeCreateStream({ name: `s${index}`, options: NO_OPTIONS });
      assert.equal((await root.command("CreateStream", body)).code, 0);
    }
    first.signal("SIGKILL");
    await first.exit();
    const files = await filesBelow(data);
    assert.ok(
      files.some((path) => path.endsWith("snapshot.bin")),
      files.join(),
    );
    const olds = UNUSUAL.map((_, index) => `old-of-user-${index}`);
    const log = first.stdout + first.stderr;
    for (const secret of [...UNUSUAL, ...olds, ...tokens]) {
      const escaped = JSON.stringify(secret).slice(1, -1);
      assert.ok(!log.includes(secret) && !log.includes(escaped), `the log shows ${escaped}`);
      for (const path of files) {
        const found = (await readFile(path)).indexOf(Buffer.from(secret));
        assert.equal(found, -1, `${path} holds ${JSON.stringify(secret)}`);
      }
    }
    const second = new ServerProcess(["--data", data], ENVIRONMENT);
    const again = await second.port();
    for (const [index, password] of UNUSUAL.entries()) {
      (await clientOf(again, BigInt(10 + index), `user-${index}`, password)).close();
      const old = new RawClient(again, 100n);
      const { evictionReason } = await old.login(`user-${index}`, `old-of-user-${index}`);
      assert.equal(evictionReason, EvictionReason.InvalidCredentials);
      old.close();
    }
    second.signal("SIGTERM");
    assert.equal(await second.exit(), 0);
  } finally {
    await rm(data, { recursive: true, force: true });
  }
});
