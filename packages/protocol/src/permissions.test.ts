import assert from "node:assert/strict";
import { test } from "node:test";
import { isWireError, type WireReason } from "@millrace/framing";
import { fromHex, goldenCases, toHex } from "@millrace/testkit";
import { decodeWith, encodeWith } from "./body-codec.ts";
import { readPermissions, readPermissionsBlock, writePermissions } from "./permissions.ts";

/** Values of an object of flags in wire order, as the golden cases list them. */
function flagsOf(flags: object): number[] {
  return Object.values(flags)
    .filter((flag) => typeof flag === "boolean")
    .map(Number);
}

for (const one of goldenCases("permissions")) {
  test(`${one.name} is read as its input says and written again byte for byte`, () => {
    const permissions = decodeWith(readPermissions, fromHex(one.expected_hex ?? ""));
    assert.deepEqual(flagsOf(permissions.global), one.input.global);
    for (const { id, flags, topics = [] } of one.input.streams ?? []) {
      const stream = permissions.streams.get(id);
      assert.deepEqual(flagsOf(stream ?? {}), flags);
      for (const topic of topics) assert.deepEqual(flagsOf(stream?.topics.get(topic.id) ?? {}), topic.flags);
      assert.equal(stream?.topics.size, topics.length);
    }
    assert.equal(permissions.streams.size, (one.input.streams ?? []).length);
    assert.equal(toHex(encodeWith(writePermissions, permissions)), one.expected_hex);
  });
}

test("flags have the names of their place", () => {
  const { global } = decodeWith(readPermissions, fromHex("0100010001000001000000"));
  assert.deepEqual(global, {
    manageServers: true,
    readServers: false,
    manageUsers: true,
    readUsers: false,
    manageStreams: true,
    readStreams: false,
    manageTopics: false,
    readTopics: true,
    pollMessages: false,
    sendMessages: false,
  });
});

const NOTHING = "00".repeat(10);
const stream = (id: string, next: string) => `${id}000000${"00".repeat(6)}00${next}`;

function assertRefused(hex: string, reason: WireReason, position: number): void {
  assert.throws(
    () => decodeWith(readPermissions, fromHex(hex)),
    (error) => isWireError(error, reason) && error.position === position,
    hex,
  );
}

test("a stream that appears twice is refused", () => {
  assertRefused(`${NOTHING}01${stream("07", "01")}${stream("07", "00")}`, "bad_value", 23);
});

test("a chain that promises a stream and ends is refused", () => {
  assertRefused(`${NOTHING}01${stream("07", "01")}`, "unexpected_end", 23);
});

test("more than 4096 topics in a stream are refused", () => {
  const topics = Array.from({ length: 4097 }, (_, id) => {
    const low = (id & 0xff).toString(16).padStart(2, "0");
    const high = (id >> 8).toString(16).padStart(2, "0");
    return `${low}${high}0000${"00".repeat(4)}01`;
  });
  const start = `${NOTHING}01${stream("07", "").slice(0, 20)}01`;
  assertRefused(`${start}${topics.join("")}`, "too_many", start.length / 2 + 4096 * 9);
});

test("a presence flag other than 1 means absent and a boolean other than 0 means true", () => {
  const permissions = decodeWith(readPermissions, fromHex(`ff${"00".repeat(9)}02`));
  assert.equal(permissions.global.manageServers, true);
  assert.equal(permissions.streams.size, 0);
});

test("a block whose length is not what it holds is refused", () => {
  for (const length of ["0a", "0c"]) {
    assert.throws(
      () => decodeWith(readPermissionsBlock, fromHex(`${length}000000${NOTHING}00ff`)),
      (error) => isWireError(error, "bad_length") && error.position === 0,
    );
  }
});
