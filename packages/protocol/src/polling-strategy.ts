import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";

/** Where a poll starts. Offsets and times come from clients and may be any u64, hence bigint. */
export type PollingStrategy =
  | { readonly kind: "offset"; readonly offset: bigint }
  | { readonly kind: "timestamp"; readonly micros: bigint }
  | { readonly kind: "first" }
  | { readonly kind: "last" }
  | { readonly kind: "next" };

const Kind = { offset: 1, timestamp: 2, first: 3, last: 4, next: 5 } as const;
const VALUE_LENGTH = 8;
const FIRST: PollingStrategy = { kind: "first" };
const LAST: PollingStrategy = { kind: "last" };
const NEXT: PollingStrategy = { kind: "next" };

/**
 * Shape: `kind u8` (1 offset, 2 timestamp, 3 first, 4 last, 5 next), `value u64`, zero for the last three.
 */
export function writePollingStrategy(writer: ByteWriter, strategy: PollingStrategy): void {
  writer.u8(Kind[strategy.kind]);
  if (strategy.kind === "offset") writer.u64(strategy.offset);
  else if (strategy.kind === "timestamp") writer.u64(strategy.micros);
  else writer.zero(VALUE_LENGTH);
}

/**
 * The counterpart of `writePollingStrategy`. The value of first, last and next is ignored, whatever it is.
 *
 * @throws WireError `unknown_kind` for a kind outside 1..=5
 */
export function readPollingStrategy(reader: ByteReader): PollingStrategy {
  const position = reader.position;
  const kind = reader.u8();
  if (kind === Kind.offset) return { kind: "offset", offset: reader.u64() };
  if (kind === Kind.timestamp) return { kind: "timestamp", micros: reader.u64() };
  reader.skip(VALUE_LENGTH);
  if (kind === Kind.next) return NEXT;
  if (kind === Kind.first) return FIRST;
  if (kind === Kind.last) return LAST;
  throw new WireError("unknown_kind", position);
}
