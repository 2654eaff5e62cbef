import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  acceptsProtocolVersion,
  oldestAcceptedVersion,
  PROTOCOL_VERSION,
  packVersion,
  SERVER_VERSION_NUMBER,
  SERVER_VERSION_TEXT,
  unpackVersion,
} from "./version.ts";

const version = (major: number, minor: number, patch: number) => packVersion({ major, minor, patch });

test("0.11.0 packs to the protocol version", () => {
  assert.equal(version(0, 11, 0), PROTOCOL_VERSION);
  assert.deepEqual(unpackVersion(PROTOCOL_VERSION), { major: 0, minor: 11, patch: 0 });
});

test("every version comes back as it was packed", () => {
  const ten = fc.nat({ max: 1023 });
  const parts = fc.record(
    { major: fc.nat({ max: 4095 }), minor: ten, patch: ten },
    { noNullPrototype: true },
  );
  fc.assert(fc.property(parts, (one) => assert.deepEqual(unpackVersion(packVersion(one)), one)));
});

test("the gate accepts exactly the server's line, any patch", () => {
  const accepted = [version(0, 11, 0), version(0, 11, 7), version(0, 11, 1023)];
  const refused = [0, version(0, 10, 1023), version(0, 12, 0), version(1, 11, 0), 0xffff_ffff];
  for (const client of accepted) assert.ok(acceptsProtocolVersion(client, PROTOCOL_VERSION));
  for (const client of refused) assert.ok(!acceptsProtocolVersion(client, PROTOCOL_VERSION));
  assert.ok(acceptsProtocolVersion(version(0, 11, 0), version(0, 11, 5)));
  assert.equal(oldestAcceptedVersion(version(0, 11, 5)), version(0, 11, 0));
});

test("the server's release is the same as text and as number", () => {
  const [major = 0, minor = 0, patch = 0] = SERVER_VERSION_TEXT.split(".").map(Number);
  assert.equal(major * 1_000_000 + minor * 1000 + patch, SERVER_VERSION_NUMBER);
});
