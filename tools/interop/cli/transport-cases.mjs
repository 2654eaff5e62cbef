import assert from "node:assert/strict";
import { properties, tableRows } from "./iggy-command.mjs";

const byUrl = (scheme) => [
  ...["--transport", "http", "--http-api-url"],
  `${scheme}://${process.env.INTEROP_HTTP_ADDRESS}`,
];

/** The global options of each way. */
const ways = {
  WebSocket: () => ["--transport", "ws", "--websocket-server-address", process.env.JUDGE_WEBSOCKET_ADDRESS],
  HTTP: () => byUrl("http"),
};

const payloads = async (iggy, stream, ...words) =>
  tableRows(await iggy.do("message", "poll", ...words, stream, "lines", "1"))
    .slice(1)
    .map((row) => row[4]);

/** What a newcomer does, in that order, ending where it began. */
async function firstSteps(iggy, overTcp, stream) {
  assert.match(await iggy.do("ping"), /Ping/i);
  await iggy.refuse("Invalid credentials", ["stream", "list"], {
    credentials: ["-u", "iggy", "-p", "not-it"],
  });
  await iggy.do("stream", "create", stream);
  await iggy.refuse("already exists", ["stream", "create", stream]);
  await iggy.do("topic", "create", stream, "lines", "2", "none");
  assert.equal(properties(await iggy.do("topic", "get", stream, "lines"))["Partitions count"], "2");
  await iggy.do("message", "send", "--partition-id", "1", stream, "lines", "one", "two", "three");
  assert.deepEqual(await payloads(iggy, stream, "--offset", "1", "-m", "9"), ["two", "three"]);
  assert.deepEqual(await payloads(iggy, stream, "--next", "--auto-commit", "-m", "2", "-c", "reader"), [
    "one",
    "two",
  ]);
  const offset = properties(await iggy.do("consumer-offset", "get", "reader", stream, "lines", "1"));
  assert.equal(offset["Stored offset"], "1");
  await iggy.do("consumer-group", "create", stream, "lines", "readers");
  assert.match(await iggy.do("consumer-group", "get", stream, "lines", "readers"), /readers/);
  await iggy.do("consumer-group", "delete", stream, "lines", "readers");
  await iggy.do("user", "create", "walker", "walkers-pw", "-g", "read_streams");
  assert.match(await iggy.do("user", "get", "walker"), /Read Streams +\| true/);
  const walker = { credentials: ["-u", "walker", "-p", "walkers-pw"] };
  assert.equal((await iggy.run(["stream", "list"], walker)).code, 0);
  await iggy.refuse("", ["stream", "create", "walkers"], walker);
  await iggy.do("user", "delete", "walker");
  // The command panics when it is to make a token over WebSocket, so TCP makes and deletes it.
  const token = (await overTcp.do("-q", "pat", "create", `${stream}-token`, "1day")).trim();
  assert.equal((await iggy.run(["stream", "list"], { credentials: ["-t", token] })).code, 0);
  // Without a keyring the client complains once the server has deleted the token.
  await overTcp.run(["pat", "delete", `${stream}-token`]);
  await iggy.refuse("", ["stream", "list"], { credentials: ["-t", token] });
  assert.match(await iggy.do("stats"), /Streams Count/);
  await iggy.do("topic", "delete", stream, "lines");
  await iggy.do("stream", "delete", stream);
  assert.match(await iggy.do("stream", "get", stream), /was not found/);
}

const titleOver = (name) => `over ${name}, streams, topics, messages, groups, users and tokens work`;

/** The steps of a newcomer by the other transports. Each case: `(iggy) => Promise`. */
export const transportCases = Object.fromEntries(
  Object.entries(ways).map(([name, way]) => [
    titleOver(name),
    (iggy) => firstSteps(iggy.over(...way()), iggy, `over-${name}`),
  ]),
);

/** The same against a server that encrypts HTTP and nothing else. */
export const httpsCases = {
  [titleOver("HTTPS")]: (iggy) => firstSteps(iggy.over(...byUrl("https")), iggy, "over-HTTPS"),

  "over HTTPS the server's certificate is refused while the system does not trust its authority": async (
    iggy,
  ) => {
    const trusted = process.env.SSL_CERT_FILE;
    delete process.env.SSL_CERT_FILE;
    try {
      await iggy.over(...byUrl("https")).refuse("http", ["stream", "list"]);
    } finally {
      process.env.SSL_CERT_FILE = trusted;
    }
  },
};
