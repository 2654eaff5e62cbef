import assert from "node:assert/strict";
import { test } from "node:test";
import { type CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { fieldValue, type TypedField, typedField } from "@millrace/framing";
import type { OptionEntries } from "@millrace/protocol";
import { UNLIMITED } from "./parse-value.ts";
import { refuseOptions, resolveTopicOptions, resolveTopicUpdate } from "./resolve-topic-options.ts";
import { TOPIC_OPTION_CATALOG } from "./topic-options.table.ts";

const one = (key: string, value: TypedField): OptionEntries => [{ key, value }];
const text = (value: string) => typedField("string", value);
const u64 = (value: bigint) => typedField("uint64", value);
const MIB = 2n ** 20n;

function errorOf(action: () => unknown): CodedError {
  try {
    action();
  } catch (error) {
    assert.ok(isCodedError(error), String(error));
    return error;
  }
  return assert.fail("an error was expected");
}

/** What an accepted form is stored as. */
function stored(key: string, value: TypedField): unknown {
  const { explicit, derived } = resolveTopicOptions(one(key, value));
  assert.equal(derived.has(key), false);
  const field = explicit.get(key);
  return field === undefined ? undefined : fieldValue(field);
}

test("without options every key is derived at its default, in its stored kind", () => {
  const { explicit, derived, settings } = resolveTopicOptions([]);
  assert.equal(explicit.size, 0);
  assert.deepEqual(Object.fromEntries([...derived].map(([key, field]) => [key, fieldValue(field)])), {
    compression_algorithm: "none",
    consumer_offset_durability: "replicated",
    durability: "replicated",
    max_topic_size: UNLIMITED,
    message_expiry: UNLIMITED,
    messages_required_to_save: 1024,
    preallocate_segments: false,
    segment_size: 1024n * MIB,
    size_of_messages_required_to_save: MIB,
  });
  assert.deepEqual(settings, {
    messageExpiry: UNLIMITED,
    maxTopicSize: UNLIMITED,
    compression: 1,
    segmentSize: 2 ** 30,
    durability: "replicated",
    consumerOffsetDurability: "replicated",
    preallocateSegments: false,
  });
});

test("every accepted form is stored in the option's own kind", () => {
  const table: readonly (readonly [string, TypedField, unknown])[] = [
    ["compression_algorithm", text("gzip"), "gzip"],
    ["compression_algorithm", typedField("uint8", 1), "none"],
    ["compression_algorithm", typedField("uint8", 2), "gzip"],
    ["message_expiry", u64(5n), 5n],
    ["message_expiry", typedField("uint32", 5), 5n],
    ["message_expiry", typedField("int64", 5n), 5n],
    ["message_expiry", text("7days"), 604_800_000_000n],
    ["message_expiry", text("never_expire"), UNLIMITED],
    ["message_expiry", text("Unlimited"), UNLIMITED],
    ["message_expiry", text("none"), UNLIMITED],
    ["message_expiry", text("server_default"), UNLIMITED],
    ["message_expiry", u64(0n), UNLIMITED],
    ["max_topic_size", text("10 GiB"), 10_240n * MIB],
    ["max_topic_size", text("15GB"), 15_000_000_000n],
    ["max_topic_size", text("unlimited"), UNLIMITED],
    ["max_topic_size", text("server_default"), UNLIMITED],
    ["max_topic_size", u64(UNLIMITED), UNLIMITED],
    ["segment_size", text("128MiB"), 128n * MIB],
    ["segment_size", text("1048576"), MIB],
    ["segment_size", u64(0n), 1024n * MIB],
    ["segment_size", typedField("uint32", 2 ** 20), MIB],
    ["durability", text("persisted"), "persisted"],
    ["consumer_offset_durability", text("persisted"), "persisted"],
    ["messages_required_to_save", text("16777216"), 16_777_216],
    ["messages_required_to_save", typedField("uint8", 1), 1],
    ["size_of_messages_required_to_save", text("1 GiB"), 1024n * MIB],
    ["size_of_messages_required_to_save", u64(0n), MIB],
    ["preallocate_segments", typedField("bool", true), true],
    ["preallocate_segments", text("false"), false],
  ];
  for (const [key, value, expected] of table) {
    assert.deepEqual(stored(key, value), expected, `${key} ${String(fieldValue(value))}`);
  }
});

test("a wrong kind, an unreadable value or one out of bounds is 4042 and names the key", () => {
  const table: readonly (readonly [string, TypedField])[] = [
    ["compression_algorithm", text("zstd")],
    ["compression_algorithm", typedField("uint8", 0)],
    ["compression_algorithm", typedField("uint8", 3)],
    ["compression_algorithm", typedField("uint16", 1)],
    ["message_expiry", text("5")],
    ["message_expiry", text("soon")],
    ["message_expiry", typedField("int64", -1n)],
    ["message_expiry", typedField("float64", 1)],
    ["message_expiry", typedField("uint128", 2n ** 64n)],
    ["max_topic_size", text("10 apples")],
    ["max_topic_size", typedField("bool", true)],
    ["segment_size", u64(MIB - 512n)],
    ["segment_size", u64(1024n * MIB + 512n)],
    ["segment_size", u64(MIB + 1n)],
    ["segment_size", text("unlimited")],
    ["durability", text("Persisted")],
    ["durability", typedField("raw", new TextEncoder().encode("persisted"))],
    ["consumer_offset_durability", text("fsync")],
    ["messages_required_to_save", u64(0n)],
    ["messages_required_to_save", u64(16_777_217n)],
    ["messages_required_to_save", text("1 KiB")],
    ["size_of_messages_required_to_save", u64(1024n * MIB + 1n)],
    ["preallocate_segments", text("yes")],
    ["preallocate_segments", typedField("uint8", 1)],
    ["preallocate_segments", { kind: 99, bytes: Uint8Array.of(1) }],
  ];
  for (const [key, value] of table) {
    const error = errorOf(() => resolveTopicOptions(one(key, value)));
    assert.deepEqual([error.code, error.details["key"]], [ErrorCode.InvalidOptionValue, key]);
  }
});

test("an unknown key is 4041, named up to 64 characters", () => {
  const long = `${"k".repeat(63)}🦆tail`;
  for (const key of ["enforce_fsync", "Durability", "constructor", long]) {
    const error = errorOf(() => resolveTopicOptions(one(key, text("x"))));
    assert.deepEqual(
      [error.code, error.details["key"]],
      [ErrorCode.UnsupportedOptionKey, [...key].slice(0, 64).join("")],
    );
  }
});

test("a finite topic size below the segment size is 1019; equal is fine", () => {
  const sizes = (topic: bigint, segment: bigint) => [
    { key: "max_topic_size", value: u64(topic) },
    { key: "segment_size", value: u64(segment) },
  ];
  assert.equal(errorOf(() => resolveTopicOptions(sizes(MIB, 2n * MIB))).code, ErrorCode.InvalidTopicSize);
  assert.equal(errorOf(() => resolveTopicOptions(one("max_topic_size", u64(MIB)))).code, 1019);
  assert.equal(resolveTopicOptions(sizes(2n * MIB, 2n * MIB)).settings.maxTopicSize, 2n * MIB);
});

test("segments may be as small as whoever resolves the options allows", () => {
  const small = one("segment_size", u64(2048n));
  assert.equal(errorOf(() => resolveTopicOptions(small)).code, ErrorCode.InvalidOptionValue);
  const bounds = { segmentSizeMin: 2048 };
  assert.equal(resolveTopicOptions(small, bounds).settings.segmentSize, 2048);
  assert.equal(errorOf(() => resolveTopicOptions(one("segment_size", u64(1536n)), bounds)).code, 4042);
});

test("one request reserves at most 64 GiB", () => {
  const preallocate = one("preallocate_segments", typedField("bool", true));
  assert.equal(resolveTopicOptions(preallocate, { partitionsCount: 64 }).settings.preallocateSegments, true);
  const error = errorOf(() => resolveTopicOptions(preallocate, { partitionsCount: 65 }));
  assert.deepEqual([error.code, error.details["key"]], [4042, "preallocate_segments"]);
  assert.equal(resolveTopicOptions([], { partitionsCount: 1000 }).settings.preallocateSegments, false);
});

test("resolved options keep no byte of the request alive", () => {
  const bytes = new TextEncoder().encode("2days");
  const { options } = resolveTopicUpdate(one("message_expiry", { kind: 2, bytes }));
  bytes.fill(0);
  assert.equal(fieldValue(options.get("message_expiry") as TypedField), "2days");
});

test("an update takes the three updatable keys, as sent, and refuses the fixed ones with 4041", () => {
  for (const { key, updatable, kind, defaultValue } of TOPIC_OPTION_CATALOG) {
    const attempt = () => resolveTopicUpdate(one(key, typedField(kind, defaultValue)));
    if (updatable) assert.deepEqual([...attempt().options.keys()], [key]);
    else assert.equal(errorOf(attempt).code, ErrorCode.UnsupportedOptionKey, key);
  }
  assert.equal(errorOf(() => resolveTopicUpdate(one("nonsense", text("x")))).code, 4041);
  assert.equal(errorOf(() => resolveTopicUpdate(one("message_expiry", text("x")))).code, 4042);
});

test("an update leaves out what stands for the default", () => {
  const { options, change } = resolveTopicUpdate([
    { key: "message_expiry", value: u64(0n) },
    { key: "max_topic_size", value: text("0") },
    { key: "compression_algorithm", value: text("none") },
  ]);
  assert.deepEqual([...options.keys()], ["compression_algorithm"]);
  assert.deepEqual(change, { compression: 1 });
});

test("streams and users take no options", () => {
  refuseOptions([]);
  assert.equal(errorOf(() => refuseOptions(one("durability", text("persisted")))).code, 4041);
});

test("the catalog describes every key with default bytes of its kind", () => {
  assert.deepEqual(
    TOPIC_OPTION_CATALOG.map(({ key }) => key),
    [
      "compression_algorithm",
      "message_expiry",
      "max_topic_size",
      "segment_size",
      "durability",
      "consumer_offset_durability",
      "messages_required_to_save",
      "size_of_messages_required_to_save",
      "preallocate_segments",
    ],
  );
  for (const { kind, defaultValue, defaultBytes, description } of TOPIC_OPTION_CATALOG) {
    assert.deepEqual(defaultBytes, typedField(kind, defaultValue).bytes);
    assert.ok(description.length > 0);
  }
});
