import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { FakeClient } from "../fakes/fake-client.ts";
import { runFake } from "../fakes/fake-world.ts";

const NOBODY = { environment: {} };

/** Runs command lines that share a home. */
async function withHome(
  body: (home: string, run: (...args: string[]) => ReturnType<typeof runFake>) => Promise<void>,
): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "millrace-home-"));
  const client = new FakeClient().asClient();
  try {
    await body(home, (...args) => runFake(args, { client, home, ...NOBODY }));
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

test("a context is created, used, shown without its secrets, and deleted", async () => {
  await withHome(async (home, run) => {
    const options = ["--tcp-server-address", "h:1", "--tcp-tls-enabled", "true", "-u", "ann", "-p", "hidden"];
    const created = await run("context", "create", "prod", ...options);
    assert.equal(created.exitCode, 0, created.stderr);
    assert.equal((await run("stream", "list")).exitCode, 4, "creating does not activate");
    assert.equal((await run("ctx", "u", "prod")).exitCode, 0);
    const [settings] = (await run("stream", "list")).settings;
    assert.deepEqual([settings?.target.address, settings?.target.client.tls], ["h:1", { validate: true }]);
    assert.deepEqual(settings?.credentials, { username: "ann", password: "hidden" });
    const shown = await run("context", "show", "prod", "--output", "json");
    assert.deepEqual(JSON.parse(shown.stdout).options, {
      tcp_server_address: "h:1",
      tcp_tls_enabled: "true",
      username: "ann",
      password: "***",
    });
    const listed = JSON.parse((await run("context", "list", "--output", "json")).stdout);
    assert.deepEqual(listed, [
      { name: "default", active: false },
      { name: "prod", active: true },
    ]);
    assert.match((await run("context", "list")).stdout, /prod\*/);
    assert.equal((await run("context", "delete", "prod")).exitCode, 0);
    assert.equal(readFileSync(join(home, ".active_context"), "utf8"), "default");
    assert.equal((await run("stream", "list")).exitCode, 4);
  });
});

test("what is typed counts before the context, option by option, and typed credentials replace all of its own", async () => {
  await withHome(async (_, run) => {
    await run(
      "context",
      "create",
      "c",
      "--tcp-server-address",
      "h:1",
      "--tcp-tls-domain",
      "d",
      "-u",
      "ann",
      "-p",
      "pw",
    );
    await run("context", "use", "c");
    const [typed] = (await run("--tcp-server-address", "h:2", "--tcp-tls-enabled", "-t", "tok", "me"))
      .settings;
    assert.deepEqual([typed?.target.address, typed?.credentials], ["h:2", { token: "tok" }]);
    assert.deepEqual(typed?.target.client.tls, { validate: true, domain: "d" });
    const [other] = (await run("-p", "new-pw", "me")).settings;
    assert.deepEqual(other?.credentials, { username: "ann", password: "new-pw" });
  });
});

test("the file is readable by its owner only, keeps what it does not know, and is refused when others may read it", async () => {
  await withHome(async (home, run) => {
    const file = join(home, "contexts.toml");
    writeFileSync(file, '[prod]\ntransport = "ws"\ncolour = "red"\nhttp_retries = 7\n', { mode: 0o600 });
    await run("context", "create", "other");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match(readFileSync(file, "utf8"), /colour = "red"[\s\S]*http_retries = 7/);
    await run("context", "use", "prod");
    assert.equal((await run("-u", "a", "-p", "b", "me")).settings[0]?.target.client.transport, "ws");
    chmodSync(file, 0o644);
    const refused = await run("-u", "a", "-p", "b", "me");
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, /can be read by others; run: chmod 600/);
  });
});

test("mistakes around contexts are named", async () => {
  await withHome(async (home, run) => {
    await run("context", "create", "c");
    const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["context", "create", "c"], 1, /There is a context "c" already/],
      [["context", "create", "default"], 1, /default is there already/],
      [["context", "delete", "default"], 1, /default cannot be deleted/],
      [["context", "create", "a b"], 2, /letters, digits/],
      [["context", "create", "d", "-u", "x", "-t", "y"], 2, /one of -u, -t and -n/],
      [["context", "create", "d", "--tcp-server-address", "x"], 2, /HOST:PORT/],
      [["context", "use", "none"], 5, /There is no context "none"[\s\S]*next: List the contexts/],
      [["context", "show", "none"], 5, /There is no context "none"/],
    ];
    for (const [args, exitCode, expected] of cases) {
      const ran = await run(...args);
      assert.equal(ran.exitCode, exitCode, args.join(" "));
      assert.match(ran.stderr, expected);
    }
    writeFileSync(join(home, ".active_context"), "gone\n");
    assert.equal((await run("-u", "a", "-p", "b", "me")).exitCode, 5);
    assert.equal((await run("context", "list")).exitCode, 0);
    assert.equal((await run("context", "use", "default")).exitCode, 0);
    writeFileSync(join(home, "contexts.toml"), "[c]\ntcp_server_address = 7\n", { mode: 0o600 });
    await run("context", "use", "c");
    assert.match(
      (await run("-u", "a", "-p", "b", "me")).stderr,
      /tcp_server_address of the context "c" is wrong/,
    );
    writeFileSync(join(home, "contexts.toml"), "what = [is this", { mode: 0o600 });
    assert.match((await run("context", "list")).stderr, /is not a file of contexts/);
  });
});
