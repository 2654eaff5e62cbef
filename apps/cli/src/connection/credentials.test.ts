import assert from "node:assert/strict";
import { test } from "node:test";
import { FakeClient } from "../fakes/fake-client.ts";
import { type FakeWorldOptions, runFake } from "../fakes/fake-world.ts";

async function credentialsOf(args: readonly string[], options: FakeWorldOptions) {
  const ran = await runFake([...args, "stream", "list"], { client: new FakeClient().asClient(), ...options });
  assert.equal(ran.exitCode, 0, ran.stderr);
  return ran.settings[0]?.credentials;
}

/** Name and password; a token has neither. */
async function pairOf(args: readonly string[], options: FakeWorldOptions) {
  const credentials = await credentialsOf(args, options);
  return credentials !== undefined && "username" in credentials ? credentials : undefined;
}

test("typed credentials win over the environment", async () => {
  const environment = { MILLRACE_USERNAME: "env", MILLRACE_PASSWORD: "env" };
  const typed = await credentialsOf(["-u", "ann", "-p", "pw"], { environment });
  assert.deepEqual(typed, { username: "ann", password: "pw" });
  const older = ["--credentials-username", "old", "--credentials-password", "pw"];
  assert.deepEqual(await credentialsOf(older, { environment }), { username: "old", password: "pw" });
  assert.equal((await pairOf(["-u", "ann", ...older, "-p", "x"], { environment }))?.username, "ann");
});

test("our variables win over those of compatible scripts, and half a pair counts for nothing", async () => {
  const iggy = { IGGY_USERNAME: "iggy", IGGY_PASSWORD: "ip" };
  const ours = { MILLRACE_USERNAME: "mill", MILLRACE_PASSWORD: "mp" };
  assert.equal((await pairOf([], { environment: { ...iggy, ...ours } }))?.username, "mill");
  assert.equal((await pairOf([], { environment: { ...iggy, MILLRACE_USERNAME: "mill" } }))?.username, "iggy");
});

test("without credentials nothing is assumed", async () => {
  const ran = await runFake(["stream", "list"], { environment: {} });
  assert.equal(ran.exitCode, 4);
  assert.match(ran.stderr, /^error: Missing server credentials\n {2}next: Set MILLRACE_USERNAME/);
});

test("a user name alone asks for the password on a terminal and reads one line elsewhere", async () => {
  const asked = await pairOf(["-u", "ann"], { stdinIsTerminal: true, secret: "typed" });
  assert.equal(asked?.password, "typed");
  assert.equal((await pairOf(["-u", "ann"], { stdin: "piped\n" }))?.password, "piped");
});

test("no password at the prompt and none on standard input is a wrong command line", async () => {
  for (const options of [{ stdinIsTerminal: true }, { stdin: "" }, { stdin: "\n" }]) {
    const ran = await runFake(["-u", "ann", "stream", "list"], options);
    assert.equal(ran.exitCode, 2);
    assert.match(ran.stderr, /No password was given/);
  }
});

test("messages on standard input start behind the line of the password", async () => {
  const client = new FakeClient();
  const ran = await runFake(["-u", "ann", "message", "send", "shop", "orders"], {
    client: client.asClient(),
    stdin: "secret\nfirst\nsecond\n",
  });
  assert.equal(ran.exitCode, 0, ran.stderr);
  const payloads = client.topic.partitions[0]?.partition.map(({ payload }) =>
    Buffer.from(payload).toString(),
  );
  assert.deepEqual(payloads, ["first", "second"]);
});

test("ping needs no credentials", async () => {
  const ran = await runFake(["ping", "-c", "2"], { environment: {}, client: new FakeClient().asClient() });
  assert.equal(ran.exitCode, 0, ran.stderr);
  assert.match(
    ran.stdout,
    /^Ping sequence id: 1 time: \d+\.\d\d ms\nPing sequence id: 2 .*\n2 answered, min\/avg\/max/,
  );
});
