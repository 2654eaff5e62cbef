import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";
import { type Identifier, readIdentifier, writeIdentifier } from "./identifier.ts";

/** 1 is a consumer of its own, 2 a consumer group; each kind has its own offsets in a partition. */
export type ConsumerKind = 1 | 2;

/** Who reads: one consumer, or a group whose members share the partitions. */
export interface Consumer {
  readonly kind: "consumer" | "group";
  readonly id: Identifier;
}

const CONSUMER: ConsumerKind = 1;
const GROUP: ConsumerKind = 2;

/** The number of a consumer's kind, on the wire and as the space of its stored offsets. */
export function consumerKindOf(consumer: Consumer): ConsumerKind {
  return consumer.kind === "group" ? GROUP : CONSUMER;
}

/** Shape: `kind u8`, identifier. */
export function writeConsumer(writer: ByteWriter, consumer: Consumer): void {
  writer.u8(consumerKindOf(consumer));
  writeIdentifier(writer, consumer.id);
}

/**
 * The counterpart of `writeConsumer`.
 *
 * @throws WireError `unknown_kind` for a kind other than 1 and 2, and those of `readIdentifier`
 */
export function readConsumer(reader: ByteReader): Consumer {
  const kind = readConsumerKind(reader);
  return { kind: kind === GROUP ? "group" : "consumer", id: readIdentifier(reader) };
}

/** The number of a kind alone. @throws WireError `unknown_kind` for a kind other than 1 and 2 */
export function readConsumerKind(reader: ByteReader): ConsumerKind {
  const position = reader.position;
  const kind = reader.u8();
  if (kind !== CONSUMER && kind !== GROUP) throw new WireError("unknown_kind", position);
  return kind;
}

/**
 * The u32 under which a consumer's offsets are stored: its id, or XXH32 (seed 0) of its name.
 *
 * Names can therefore collide with each other and with numbers; the reference has the same space. Groups
 * are not keyed so: the catalog gives them their id.
 *
 * @param xxh32  the hash, as `loadKeyHash()` of framing resolves it
 */
export function consumerKey(identifier: Identifier, xxh32: (bytes: Uint8Array) => number): number {
  if (identifier.kind === "numeric") return identifier.id;
  return xxh32(new TextEncoder().encode(identifier.name)) >>> 0;
}
