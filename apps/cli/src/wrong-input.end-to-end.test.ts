import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, before, test } from "node:test";
import { connect } from "./connection/connect.ts";
import { openPinger } from "./connection/pinger.ts";
import { runFake } from "./fakes/fake-world.ts";
import { type ServerUnderTest, startServer } from "./fakes/server-under-test.ts";

let server: ServerUnderTest;
before(async () => {
  server = await startServer();
  for (const args of [
    ["stream", "create", "ok"],
    ["topic", "create", "ok", "t", "1", "none"],
  ])
    assert.equal((await run(...args)).exitCode, 0);
});
after(async () => {
  await server?.stop();
});

function run(...args: string[]) {
  return runFake(["--tcp-server-address", server.address, ...args], { connect, openPinger });
}

test("a name of digits is given, and how to address it is said where it is given and where it is missed", async () => {
  const made = await run("stream", "create", "12");
  assert.equal(made.exitCode, 0);
  assert.match(made.stdout, /^Stream "12" created with id 1\./);
  assert.match(made.stderr, /Digits only are taken for an id: address this stream by its id, 1\./);
  const missed = await run("stream", "get", "12");
  assert.equal(missed.exitCode, 5);
  assert.match(
    missed.stderr,
    /There is no stream #12\..*\n.*a stream with such a name is addressed by the id/,
  );
  assert.equal((await run("stream", "delete", "1")).exitCode, 0);
  const others = [
    ["topic", "create", "ok", "7", "1", "none"],
    ["topic", "update", "ok", "7", "8", "none"],
    ["group", "create", "ok", "t", "7"],
    ["user", "create", "777", "secret"],
    ["user", "name", "777", "778"],
    ["stream", "update", "ok", "9"],
  ];
  for (const args of others) {
    const ran = await run(
      ...args.map((arg, at) => (at > 1 && arg === "7" && args[1] === "update" ? "1" : arg)),
    );
    if (args[1] === "name")
      assert.match(ran.stderr, /a user with such a name is addressed by the id it has there/);
    else assert.match(ran.stderr, /Digits only are taken for an id: address this/, args.join(" "));
  }
  assert.equal((await run("stream", "update", "0", "ok")).stderr, "");
});

test("what does not exist, or exists already, is named as it was typed", async () => {
  const refused: readonly (readonly [string, number, RegExp])[] = [
    ["stream delete nope", 5, /^error: There is no stream "nope"\. \(1009 /],
    [
      "topic create nope t 1 none",
      5,
      /There is no stream "nope"\..*\n.*Create it with: millrace stream create nope/,
    ],
    ["topic delete ok nope", 5, /There is no topic "nope" in stream "ok"\. \(2010 /],
    ["topic create ok t 1 none", 1, /There is a topic "t" in stream "ok" already\. \(2013 /],
    ["stream create ok", 1, /There is a stream "ok" already\. \(1012 /],
    ["group delete ok t nope", 5, /There is no consumer group "nope" in topic "t"\. \(5000 /],
    ["message poll ok t 9 -f", 5, /Topic "t" of stream "ok" has no partition 9\. \(3007 /],
    [
      "consumer-offset delete c ok t 0",
      5,
      /No offset is stored for consumer "c" in partition 0 of topic "t"\./,
    ],
    ["user delete nope", 5, /There is no user "nope"\. \(20 /],
    ["pat delete nope", 5, /You have no token "nope"\. \(20 /],
    [
      "user password iggy wrong newpass",
      4,
      /CURRENT is not the password of user "iggy"\. \(42 .*\n.*\n.*as it is now/,
    ],
    ["context delete default", 1, /cannot be deleted: it is always there.*\n.*next: List the contexts/],
  ];
  for (const [line, exitCode, message] of refused) {
    const ran = await run(...line.split(" "));
    assert.equal(ran.exitCode, exitCode, `${line}: ${ran.stderr}`);
    assert.match(ran.stderr, message);
    assert.equal(ran.stdout, "");
  }
});

test("names and keys outside their bounds are refused before anything is sent, with the bounds of their kind", async () => {
  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [["user", "create", "", "secret"], /A user name must have 3 to 50 bytes; this one has 0\./],
    [["user", "name", "iggy", "ab"], /A user name must have 3 to 50 bytes; this one has 2\./],
    [["pat", "create", "ab"], /The name of a token must have 3 to 30 bytes; this one has 2\./],
    [["message", "send", "ok", "t", "x", "-m", ""], /A key must have 1 to 255 bytes; this one has 0\./],
    [["stream", "create", "x".repeat(5000)], /value 'x{80}\.\.\.' is invalid .* this one has 5000\./],
  ];
  for (const [args, message] of refused) {
    const ran = await run(...args);
    assert.equal(ran.exitCode, 2, ran.stderr);
    assert.match(ran.stderr, message);
  }
});

test("credentials that no login can carry are told as such, without their text", async () => {
  for (const [typed, message] of [
    [
      ["-u", "", "-p", "secret"],
      /The username of a login is text of 1 to 255 bytes.* \(43 .*\n.*Check the user name/,
    ],
    [
      ["-t", "secret".repeat(50)],
      /The token of a login is text of 1 to 255 bytes of UTF-8; this one has 300\./,
    ],
  ] as const) {
    const ran = await run(...typed, "stream", "list");
    assert.equal(ran.exitCode, 4);
    assert.match(ran.stderr, message);
    assert.doesNotMatch(ran.stderr, /secret/);
  }
});

test("a program that never answers ends in a time-out that does not claim that something was done", async () => {
  const silent = createServer((socket) => socket.on("error", () => undefined).resume()).listen(
    0,
    "127.0.0.1",
  );
  await once(silent, "listening");
  const address = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const ran = await runFake(["--tcp-server-address", address, "ping"], { connect, openPinger });
  silent.close();
  assert.equal(ran.exitCode, 3);
  assert.match(
    ran.stderr,
    /did not answer a ping within .*\n.*another program answers there: try again, or name/,
  );
  assert.doesNotMatch(ran.stderr, /may have done it/);
});
