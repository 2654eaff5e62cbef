import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { connect } from "./connection/connect.ts";
import { openPinger } from "./connection/pinger.ts";
import { runFake } from "./fakes/fake-world.ts";
import { type ServerUnderTest, startServer } from "./fakes/server-under-test.ts";

let server: ServerUnderTest;
const home = mkdtempSync(join(tmpdir(), "millrace-home-"));

before(async () => {
  server = await startServer({
    environment: { MILLRACE_HTTP_ENABLED: "true", MILLRACE_HTTP_ADDRESS: "127.0.0.1:0" },
  });
});

after(async () => {
  assert.equal(await server?.stop(), 0);
  rmSync(home, { recursive: true });
});

/** What leads to the server when the command line says nothing of it. */
const reach = (transport: string) =>
  transport === "http"
    ? { MILLRACE_TRANSPORT: "http", MILLRACE_HTTP_API_URL: `http://${server.httpAddress}` }
    : { MILLRACE_TCP_SERVER_ADDRESS: server.address };

/** Runs a command line as the reference's documentation writes it, but for the tool's name and the port. */
async function run(transport: string, line: string, stdin = "") {
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  return runFake(words, { connect, openPinger, environment: reach(transport), home, stdin });
}

for (const transport of ["tcp", "http"] as const) {
  describe(`over ${transport}`, { timeout: 120_000 }, () => {
    const iggy = (line: string, stdin = "") => run(transport, line, stdin);
    async function ok(line: string, expected: RegExp, stdin = ""): Promise<string> {
      const ran = await iggy(line, stdin);
      assert.equal(ran.exitCode, 0, `${line}: ${ran.stderr}`);
      assert.match(ran.stdout, expected, line);
      return ran.stdout;
    }

    it("whoever knows only the reference's documentation creates, sends, polls and cleans up", async () => {
      await ok("ping --count 2", /Ping sequence id: 2 time: \d/);
      const there =
        transport === "http"
          ? `--transport http --http-api-url http://${server.httpAddress}`
          : `--transport tcp --tcp-server-address ${server.address}`;
      await ok(`${there} -u iggy -p iggy stream create dev`, /dev/);
      await ok(
        "--username iggy --password iggy stream list",
        /ID.*Created.*Name.*Size \(B\).*Messages.*Topics/,
      );
      await ok("-u iggy -p iggy s l -l list", /^0\|.*\|dev\|0\|0\|0\n/);
      await ok("-u iggy -p iggy topic create dev sample 2 none 7d", /sample/);
      await ok(
        "-u iggy -p iggy topic create dev big 1 gzip 1day 1hour 1min 1sec --max-topic-size 15GB",
        /big/,
      );
      await ok("-u iggy -p iggy topic get dev sample", /Property.*Value/);
      await ok('-u iggy -p iggy message send --partition-id 0 dev sample "hello world" second', /2 messages/);
      await ok(
        "-u iggy -p iggy message send -p 1 -H k1:string:v:1,k2:uint8:42 dev sample headed",
        /1 messages/,
      );
      await ok("-u iggy -p iggy m s -m key dev sample", /2 messages/, "from\nstdin\n");
      await ok(
        "-u iggy -p iggy message poll --offset 0 --message-count 10 --auto-commit dev sample 0",
        /hello world/,
      );
      await ok(
        "-u iggy -p iggy message poll -f -s dev sample 1",
        /Header: k1 \/ string.*Header: k2 \/ uint8/,
      );
      const file = join(home, "messages.bin");
      await ok(`-u iggy -p iggy message poll --first -m 10 --output-file ${file} dev sample 0`, /appended/);
      await ok(`-u iggy -p iggy message send --input-file ${file} -p 0 dev sample`, /messages/);
      assert.ok(readFileSync(file).length > 64);
      const flushed = await iggy("-u iggy -p iggy message flush dev sample 0 --fsync");
      assert.equal(flushed.exitCode, 1);
      assert.match(flushed.stderr, /5 FeatureUnavailable\)[\s\S]*next: .*--durability persisted/);
      await ok("-u iggy -p iggy consumer-offset set 1 dev sample 0 1", /Offset 1 stored/);
      await ok("-u iggy -p iggy o g 1 dev sample 0", /Stored offset.*1/);
      await ok("-u iggy -p iggy partition create dev sample 3", /3/);
      await ok("-u iggy -p iggy partition delete dev sample 2", /2/);
      await ok("-u iggy -p iggy segment delete dev sample 0 1", /segments/);
      await ok("-u iggy -p iggy topic update dev sample renamed none unlimited", /updated/);
      await ok("-u iggy -p iggy topic purge dev renamed", /purged|removed|empt/i);
      await ok("-u iggy -p iggy stats -o toml", /server_version = "0\.9\.0"/);
      if (transport === "tcp") await ok("-u iggy -p iggy me", /Client ID/);
      else {
        const me = await iggy("-u iggy -p iggy me");
        assert.equal(me.exitCode, 1);
        assert.match(me.stderr, /no route for GetMe.*5 FeatureUnavailable\)\n {2}next: Use --transport tcp/);
      }
      await ok("-u iggy -p iggy client list", /Client ID/);
      await ok("-u iggy -p iggy cluster metadata", /Role.*Status/);
      await ok("-u iggy -p iggy options topic", /segment_size/);
      await ok("-u iggy -p iggy stream delete dev", /deleted/);
    });

    it("groups, users, tokens, a login and a context work as documented there", async () => {
      await ok("-u iggy -p iggy stream create prod", /prod/);
      await ok("-u iggy -p iggy topic create prod events 1 none", /events/);
      await ok("-u iggy -p iggy consumer-group create prod events workers", /workers/);
      await ok("-u iggy -p iggy g l prod events", /Partitions Count.*Members Count/);
      await ok("-u iggy -p iggy consumer-group get prod events workers", /workers/);
      await ok("-u iggy -p iggy consumer-group delete prod events workers", /deleted/);
      await ok("-u iggy -p iggy user create guest secret -g r_str,read_topics -s 0:p_msg#0:s_msg", /guest/);
      await ok("-u iggy -p iggy user permissions guest -g p_msg,send_messages,read_streams", /replaced/);
      await ok("-u iggy -p iggy u p guest -g manage_streams", /replaced/);
      await ok("-u guest -p secret user password guest secret better", /changed/);
      await ok("-u iggy -p iggy user status guest inactive", /inactive/);
      assert.equal((await iggy("-u guest -p better stream list")).exitCode, 4);
      await ok("-u iggy -p iggy user status guest active", /active/);
      await ok("-u iggy -p iggy user name guest visitor", /visitor/);
      const token = (await ok("-u iggy -p iggy -q pat create ci-token 1day 1hour", /^\S+\n$/)).trim();
      await ok(`--token ${token} stream list`, /prod/);
      await ok("-u iggy -p iggy pat create kept --store-token", /kept/);
      await ok("--token-name kept stream list", /prod/);
      await ok("-u iggy -p iggy pat list", /Name.*Token Expiry Time/);
      await ok("-n kept pat delete kept", /deleted/);
      await ok("-u iggy -p iggy pat delete ci-token", /deleted/);
      await ok("-u iggy -p iggy login 1hour", /Logged in/);
      await ok("stream list", /prod/);
      await ok("session status", /yes/);
      await ok("logout", /Logged out/);
      assert.match((await iggy("stream list")).stderr, /Missing server credentials/);
      await ok(`context create work --transport ${transport} -u iggy -p iggy`, /created/);
      await ok("context use work", /active/);
      await ok("stream list", /prod/);
      await ok("ctx l", /work\*/);
      await ok("context use default", /default/);
      await ok("context delete work", /deleted/);
      await ok("-u iggy -p iggy user delete visitor", /deleted/);
      await ok("-u iggy -p iggy stream delete prod", /deleted/);
    });
  });
}
