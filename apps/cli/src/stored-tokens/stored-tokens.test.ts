import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { CodedError, ErrorCode } from "@millrace/errors";
import { FakeClient } from "../fakes/fake-client.ts";
import { type FakeWorldOptions, runFake } from "../fakes/fake-world.ts";

const LOGIN = "millrace-cli-session";
const NOBODY = { environment: {} };

/** Runs command lines that share a home and a server. */
async function withHome(
  body: (tools: {
    readonly home: string;
    readonly file: string;
    readonly client: FakeClient;
    readonly run: (args: readonly string[], options?: FakeWorldOptions) => ReturnType<typeof runFake>;
  }) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-home-"));
  const home = join(folder, "new", "home");
  const client = new FakeClient();
  const run = (args: readonly string[], options: FakeWorldOptions = {}) =>
    runFake(args, { client: client.asClient(), home, ...options });
  try {
    await body({ home, file: join(home, "tokens.json"), client, run });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test("login stores a token that later commands use before anything typed, until logout", async () => {
  await withHome(async ({ file, client, run }) => {
    const login = await run(["-u", "iggy", "-p", "pw", "login"], NOBODY);
    assert.equal(login.exitCode, 0, login.stderr);
    assert.match(login.stdout, /Logged in at 127\.0\.0\.1:8090 as user #0, until 2/);
    assert.deepEqual(client.calls.at(-1), ["createPersonalAccessToken", LOGIN, { expiry: 900_000_000n }]);
    const used = await run(["stream", "list"], NOBODY);
    assert.deepEqual(used.settings[0]?.credentials, { token: `token-of-${LOGIN}`, isStoredLogin: true });
    const typed = await run(["-u", "ann", "-p", "pw", "stream", "list"]);
    assert.deepEqual(typed.settings[0]?.credentials, { token: `token-of-${LOGIN}`, isStoredLogin: true });
    assert.match(typed.stderr, /The stored login is used/);
    const elsewhere = await run(["--tcp-server-address", "h:1", "stream", "list"], NOBODY);
    assert.equal(elsewhere.exitCode, 4, "a login is for one server");
    const again = await run(["login"], NOBODY);
    assert.match(again.stdout, /Already logged in/);
    const status = await run(["session", "status", "--output", "json"], NOBODY);
    assert.deepEqual([JSON.parse(status.stdout).logged_in, status.settings.length], [true, 0]);
    const logout = await run(["logout"], NOBODY);
    assert.match(logout.stdout, /Logged out at/);
    assert.deepEqual(client.calls.at(-1), ["deletePersonalAccessToken", LOGIN]);
    assert.equal(JSON.parse(readFileSync(file, "utf8")).servers["127.0.0.1:8090"], undefined);
    assert.equal((await run(["stream", "list"], NOBODY)).exitCode, 4);
    assert.match((await run(["logout"], NOBODY)).stdout, /There is no stored login/);
  });
});

test("the file is readable by its owner only, and one that others may read is refused", async () => {
  await withHome(async ({ home, file, run }) => {
    await run(["-u", "iggy", "-p", "pw", "login", "none"], NOBODY);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(statSync(home).mode & 0o777, 0o700);
    chmodSync(file, 0o644);
    const refused = await run(["stream", "list"]);
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, /can be read by others; run: chmod 600/);
    assert.doesNotMatch(refused.stderr, /token-of/);
  });
});

test("a file that is not ours is said and left alone", async () => {
  for (const text of [
    "{",
    "[]",
    '{"version":2,"servers":{}}',
    '{"version":1,"servers":{"h":{"tokens":7}}}',
  ]) {
    await withHome(async ({ home, file, run }) => {
      mkdirSync(home, { recursive: true });
      writeFileSync(file, text, { mode: 0o600 });
      const refused = await run(["-u", "iggy", "-p", "pw", "login"]);
      assert.equal(refused.exitCode, 1, text);
      assert.match(refused.stderr, /holds no tokens that this release can read/);
      assert.equal(readFileSync(file, "utf8"), text);
    });
  }
});

test("a stored login that the server refuses is forgotten, and the person is told", async () => {
  await withHome(async ({ run }) => {
    await run(["-u", "iggy", "-p", "pw", "login"], NOBODY);
    const connect = () => Promise.reject(new CodedError(ErrorCode.InvalidPersonalAccessToken));
    const refused = await run(["stream", "list"], { connect });
    assert.equal(refused.exitCode, 4);
    assert.match(refused.stderr, /The login at 127\.0\.0\.1:8090 has expired; log in again/);
    assert.equal((await run(["stream", "list"], NOBODY)).exitCode, 4);
    assert.deepEqual((await run(["stream", "list"])).settings[0]?.credentials, {
      username: "iggy",
      password: "iggy",
    });
  });
});

test("a login left on the server, or one that is expired, is made again", async () => {
  await withHome(async ({ client, run }) => {
    client.tokens.push({ name: LOGIN, expiresAt: undefined });
    await run(["-u", "iggy", "-p", "pw", "login", "1h"], NOBODY);
    assert.deepEqual(client.calls.at(-2), ["deletePersonalAccessToken", LOGIN]);
    client.tokens.splice(0, 1, { name: LOGIN, expiresAt: 1n });
    const again = await run(["-u", "iggy", "-p", "pw", "login", "1h"]);
    assert.match(again.stdout, /^Logged in/);
    assert.equal(client.tokens.length, 1);
  });
});

test("a logout of a login that is over forgets it all the same", async () => {
  await withHome(async ({ client, run }) => {
    await run(["-u", "iggy", "-p", "pw", "login"], NOBODY);
    client.tokens.length = 0;
    assert.equal((await run(["logout"], NOBODY)).exitCode, 0);
    assert.match((await run(["session", "status"], NOBODY)).stdout, /Logged in *│? *no/);
  });
});

test("pat create shows the token once, with -q nothing but it", async () => {
  await withHome(async ({ file, client, run }) => {
    const shown = await run(["pat", "create", "ci-token", "1day", "12h"]);
    assert.match(shown.stdout, /not shown again: token-of-ci-token\n/);
    assert.deepEqual(client.calls.at(-1), [
      "createPersonalAccessToken",
      "ci-token",
      { expiry: 129_600_000_000n },
    ]);
    assert.equal((await run(["-q", "pat", "create", "quiet-one"])).stdout, "token-of-quiet-one\n");
    const json = await run(["pat", "create", "json-one", "--output", "json"]);
    assert.deepEqual(JSON.parse(json.stdout), { name: "json-one", token: "token-of-json-one" });
    assert.equal(existsSync(file), false);
  });
});

test("a stored token is used by its name, and forgotten when it is deleted", async () => {
  await withHome(async ({ client, run }) => {
    const made = await run(["pat", "create", "kept", "--store-token"]);
    assert.doesNotMatch(made.stdout, /token-of/);
    assert.equal((await run(["-q", "pat", "create", "kept-2", "-s"])).stdout, "kept-2\n");
    const used = await run(["-n", "kept", "stream", "list"], NOBODY);
    assert.deepEqual(used.settings[0]?.credentials, { token: "token-of-kept" });
    assert.deepEqual((await run(["-t", "raw", "stream", "list"], NOBODY)).settings[0]?.credentials, {
      token: "raw",
    });
    assert.equal((await run(["pat", "delete", "kept"])).exitCode, 0);
    const gone = await run(["-n", "kept", "stream", "list"], NOBODY);
    assert.equal(gone.exitCode, 4);
    assert.match(gone.stderr, /No token "kept" is stored for 127\.0\.0\.1:8090/);
    assert.equal(client.tokens.length, 1);
  });
});

test("neither the terminal nor the debug log shows a password or a token", async () => {
  await withHome(async ({ home, run }) => {
    mkdirSync(home, { recursive: true });
    const debug = join(home, "debug.log");
    const secrets = ["clear-password", "new-password", "raw-token"];
    const lines = [
      ["user", "create", "ann", "clear-password"],
      ["user", "password", "ann", "clear-password", "new-password"],
    ];
    for (const line of lines) {
      const ran = await run(["-d", debug, "-v", "-t", "raw-token", ...line], { isTerminal: true });
      assert.equal(ran.exitCode, 0, ran.stderr);
      for (const secret of secrets) assert.ok(!`${ran.stdout}${ran.stderr}`.includes(secret), secret);
    }
    const log = readFileSync(debug, "utf8");
    assert.match(log, /Executing user password ann \*\*\* \*\*\*/);
    for (const secret of secrets) assert.ok(!log.includes(secret), secret);
  });
});

test("passwords that are left out are asked for on a terminal and read from standard input elsewhere", async () => {
  await withHome(async ({ client, run }) => {
    await run(["user", "password", "ann"], { stdin: "old-one\nnew-one\n" });
    const passwords = { currentPassword: "old-one", newPassword: "new-one" };
    assert.deepEqual(client.calls.at(-1), ["changePassword", "ann", passwords]);
    await run(["user", "password", "ann", "old"], { stdinIsTerminal: true, secret: "typed" });
    const typed = { currentPassword: "old", newPassword: "typed" };
    assert.deepEqual(client.calls.at(-1), ["changePassword", "ann", typed]);
    assert.equal((await run(["user", "password", "ann", "old"], { stdin: "" })).exitCode, 2);
  });
});

test("permissions are typed in long and short words, on streams and topics", async () => {
  await withHome(async ({ client, run }) => {
    const options = ["-g", "read_users,m_str", "-s", "1:m_top,p_msg#2:s_msg#3", "-s", "4"];
    await run(["user", "permissions", "ann", ...options]);
    assert.deepEqual(client.calls.at(-1), [
      "updatePermissions",
      "ann",
      {
        global: { readUsers: true, manageStreams: true },
        streams: {
          1: { manageTopics: true, pollMessages: true, topics: { 2: { sendMessages: true }, 3: {} } },
          4: { topics: {} },
        },
      },
    ]);
    await run(["user", "permissions", "ann"]);
    assert.deepEqual(client.calls.at(-1), ["updatePermissions", "ann", undefined]);
    const { stdout } = await run(["user", "get", "ann", "--output", "list"]);
    assert.match(
      stdout,
      /everywhere\|read_servers, send_messages\nstream 3\|read_stream\nstream 3, topic 4\|poll_messages/,
    );
  });
});
