import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { EvictionReason } from "@millrace/protocol";
import { ClusterObserver } from "./cluster-observer.ts";
import { MillraceClient } from "./millrace-client.ts";
import { FakeServer } from "./testing/fake-server.test.ts";

const who = { username: "iggy", password: "secret" };

const CONNECTS: readonly ((given: never) => Promise<unknown>)[] = [
  (given) => MillraceClient.connect(given),
  (given) => ClusterObserver.connect(given),
];

test("options of a program without types are refused by name, with what they may be", async () => {
  for (const [given, words] of [
    [42, /options or a connection string, not a number\./],
    [undefined, /not undefined\./],
    [null, /not null\./],
    [["127.0.0.1:8090"], /not an array\./],
    [
      { ...who, serverAdress: "127.0.0.1:8090" },
      /serverAdress in the options is not known; there are address, /,
    ],
    [{ ...who, address: 8090 }, /address in the options is a number; it must be host:port or an array/],
    [{ ...who, address: [8090] }, /address in the options is an array; it must be host:port/],
    [{ username: "iggy", password: 1 }, /password in the options is a number; it must be a string/],
    [{ ...who, requestTimeoutMs: "5s" }, /requestTimeoutMs in the options is a string; it must be a number/],
    [{ ...who, inFlightMax: Number.NaN }, /inFlightMax in the options is NaN; it must be a number/],
    [{ ...who, reconnect: { retries: 2.5 } }, /reconnect\.retries is 2\.5; it is a whole number/],
    [{ ...who, reconnect: { intervalMs: -1 } }, /reconnect\.intervalMs is -1; it must be at least 0/],
    [{ ...who, retrySends: "no" }, /retrySends in the options is a string; it must be true or false/],
    [{ ...who, tls: "yes" }, /tls in the options is a string; it must be true, false or an object/],
    [{ ...who, tls: { ca: "a.pem" } }, /ca in tls is not known; there are domain, caFile, validate/],
    [{ ...who, reconnect: true }, /reconnect in the options is a boolean; it must be false or an object/],
    [{ ...who, reconnect: { delay: 1 } }, /delay in reconnect is not known; there are retries, /],
  ] as const) {
    for (const connect of CONNECTS) {
      await assert.rejects(connect(given as never), (error) => {
        assert.ok(isCodedError(error, ErrorCode.InvalidArgument), String(error));
        assert.match(error.message, words);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      });
    }
  }
});

test("options that are left undefined, and more of them beside a connection string, are checked the same way", async () => {
  const { platform } = new FakeServer();
  const client = await MillraceClient.connect({ ...who, platform, address: undefined } as never);
  await client.close();
  const more = { platform, retries: 3 } as never;
  await assert.rejects(
    MillraceClient.connect("millrace://iggy:iggy@h:1", more),
    /retries in the options is not known/,
  );
});

test("a client that is made by new, or of nothing, is told how to make one", () => {
  const Constructor = MillraceClient as unknown as new (given?: unknown) => unknown;
  for (const given of [undefined, 42, { address: "127.0.0.1:8090" }]) {
    assert.throws(
      () => new Constructor(given),
      (error) => {
        assert.ok(isCodedError(error, ErrorCode.InvalidArgument));
        assert.match(error.message, /await MillraceClient\.connect\(/);
        return true;
      },
    );
  }
});

test("a refused login says that a connection string is not percent-decoded, when it looks so", async () => {
  const server = new FakeServer();
  server.script = (request) => {
    request.evict(EvictionReason.InvalidCredentials);
    return true;
  };
  const { platform } = server;
  const refused = async (text: string) => {
    const error = await MillraceClient.connect(text, { platform }).catch((reason: unknown) => reason);
    assert.ok(isCodedError(error, ErrorCode.InvalidCredentials));
    return error.message;
  };
  assert.match(await refused("millrace://iggy:p%40ss@h:1"), /a connection string is taken as it stands/);
  assert.match(await refused("millrace://ig%67y:pass@h:1"), /a connection string is taken as it stands/);
  for (const text of ["millrace://iggy:p@ss@h:1", "millrace://iggy:100%@h:1"])
    assert.doesNotMatch(await refused(text), /as it stands/);
});
