import { typedField } from "@millrace/framing";
import fc from "fast-check";
import type { Consumer } from "./consumer.ts";
import type { OffsetTarget } from "./consumer-offsets/offset-target.ts";
import type { Identifier } from "./identifier.ts";
import { isName } from "./name.ts";
import type { OptionEntries } from "./options.ts";
import type { Partitioning } from "./partitioning.ts";
import type { Permissions } from "./permissions.ts";
import type { PollingStrategy } from "./polling-strategy.ts";

/** A generator of plain objects, as the decoders make them. */
export function record<T>(model: { [Key in keyof T]: fc.Arbitrary<T[Key]> }): fc.Arbitrary<T> {
  return fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<T>;
}

/** Generators of the values that bodies are made of, for property tests. */
export const u8 = fc.nat({ max: 0xff });
export const u16 = fc.nat({ max: 0xffff });
export const u32 = fc.nat({ max: 0xffff_ffff });
export const counter = fc.maxSafeNat();
export const u64 = fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn });
export const float = fc.float({ noNaN: true });
export const text = fc.string({ unit: "grapheme", maxLength: 40 });
export const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).filter(isName);
export const bytes8 = fc.uint8Array({ minLength: 1, maxLength: 255 });

export const identifier: fc.Arbitrary<Identifier> = fc.oneof(
  record({ kind: fc.constant("numeric" as const), id: u32 }),
  record({ kind: fc.constant("name" as const), name }),
);

export const consumer: fc.Arbitrary<Consumer> = record({
  kind: fc.constantFrom("consumer", "group"),
  id: identifier,
});

export const partitioning: fc.Arbitrary<Partitioning> = fc.oneof(
  fc.constant<Partitioning>({ kind: "balanced" }),
  record({ kind: fc.constant("partition" as const), partitionId: u32 }),
  record({ kind: fc.constant("key" as const), key: bytes8 }),
);

export const pollingStrategy: fc.Arbitrary<PollingStrategy> = fc.oneof(
  record({ kind: fc.constant("offset" as const), offset: u64 }),
  record({ kind: fc.constant("timestamp" as const), micros: u64 }),
  fc.constantFrom<PollingStrategy>({ kind: "first" }, { kind: "last" }, { kind: "next" }),
);

const typedValue = fc.oneof(
  bytes8.map((value) => typedField("raw", value)),
  name.map((value) => typedField("string", value)),
  u32.map((value) => typedField("uint32", value)),
  u64.map((value) => typedField("uint64", value)),
  fc.boolean().map((value) => typedField("bool", value)),
);

export const options: fc.Arbitrary<OptionEntries> = fc.uniqueArray(record({ key: name, value: typedValue }), {
  selector: (option) => option.key,
  maxLength: 5,
});

const flag = fc.boolean();
const topicPermissions = record({
  manageTopic: flag,
  readTopic: flag,
  pollMessages: flag,
  sendMessages: flag,
});
const streamPermissions = record({
  manageStream: flag,
  readStream: flag,
  manageTopics: flag,
  readTopics: flag,
  pollMessages: flag,
  sendMessages: flag,
  topics: fc.array(fc.tuple(u32, topicPermissions), { maxLength: 4 }).map((entries) => new Map(entries)),
});

export const permissions: fc.Arbitrary<Permissions> = record({
  global: record({
    manageServers: flag,
    readServers: flag,
    manageUsers: flag,
    readUsers: flag,
    manageStreams: flag,
    readStreams: flag,
    manageTopics: flag,
    readTopics: flag,
    pollMessages: flag,
    sendMessages: flag,
  }),
  streams: fc.array(fc.tuple(u32, streamPermissions), { maxLength: 4 }).map((entries) => new Map(entries)),
});

export const partitionId = fc.option(u32, { nil: undefined });

export const offsetTarget: fc.Arbitrary<OffsetTarget> = record({
  consumer,
  stream: identifier,
  topic: identifier,
  partitionId,
});
