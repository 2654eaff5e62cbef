import { ByteReader, type TypedField, typedField } from "@millrace/framing";
import { fromHex, goldenCase, utf8 } from "@millrace/testkit";
import type { Consumer } from "./consumer.ts";
import { type Identifier, toIdentifier } from "./identifier.ts";
import { NO_OPTIONS, type OptionEntries } from "./options.ts";
import type { Partitioning } from "./partitioning.ts";
import { type Permissions, readPermissions } from "./permissions.ts";
import type { PollingStrategy } from "./polling-strategy.ts";

/** Values of this package from the inputs of golden cases. */

type GoldenOption = { key: string; kind: "string" | "uint32" | "uint64" | "bool"; value: string };

export function goldenIdentifier(value: number | string): Identifier {
  return toIdentifier(value);
}

export function goldenConsumer(input: { kind: number; id: number | string }): Consumer {
  return { kind: input.kind === 2 ? "group" : "consumer", id: toIdentifier(input.id) };
}

export function goldenPartitioning(input: {
  kind: number;
  partition_id: number;
  key_utf8: string;
}): Partitioning {
  if (input.kind === 1) return { kind: "balanced" };
  if (input.kind === 2) return { kind: "partition", partitionId: input.partition_id };
  return { kind: "key", key: utf8(input.key_utf8) };
}

export function goldenStrategy(input: { kind: number; value?: string }): PollingStrategy {
  if (input.kind === 1) return { kind: "offset", offset: BigInt(input.value ?? 0) };
  if (input.kind === 2) return { kind: "timestamp", micros: BigInt(input.value ?? 0) };
  if (input.kind === 3) return { kind: "first" };
  return { kind: input.kind === 4 ? "last" : "next" };
}

export function goldenOptions(input: readonly GoldenOption[] | string | undefined): OptionEntries {
  if (input === undefined) return NO_OPTIONS;
  const entries: readonly GoldenOption[] =
    typeof input === "string" ? goldenCase(input).input.entries : input;
  return entries.map(({ key, kind, value }) => ({ key, value: goldenField(kind, value) }));
}

function goldenField(kind: GoldenOption["kind"], value: string): TypedField {
  if (kind === "string") return typedField(kind, value);
  return kind === "bool" ? typedField(kind, value === "true") : typedField(kind, BigInt(value));
}

/** Permissions that another case, named by `input`, holds. */
export function goldenPermissions(input: string | null): Permissions | undefined {
  if (input === null) return undefined;
  return readPermissions(new ByteReader(fromHex(goldenCase(input).expected_hex ?? "")));
}
