import { CodedError, ErrorCode } from "@millrace/errors";
import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";
import { MESSAGE_KEY_LENGTH_MAX, MESSAGE_KEY_LENGTH_MIN } from "./bounds.ts";

/** How the partition of a batch is found: in turn, by its id, or by the hash of a key. */
export type Partitioning =
  | { readonly kind: "balanced" }
  | { readonly kind: "partition"; readonly partitionId: number }
  | { readonly kind: "key"; readonly key: Uint8Array };

const Kind = { balanced: 1, partition: 2, key: 3 } as const;
const PARTITION_ID_LENGTH = 4;
const BALANCED: Partitioning = { kind: "balanced" };

/**
 * Shape: `kind u8` (1 balanced, 2 partition id, 3 key), `length u8`, then nothing, u32 or the key.
 *
 * @throws CodedError InvalidKeyValueLength for a key outside 1..=255 bytes
 */
export function writePartitioning(writer: ByteWriter, partitioning: Partitioning): void {
  switch (partitioning.kind) {
    case "balanced":
      writer.u8(Kind.balanced).u8(0);
      return;
    case "partition":
      writer.u8(Kind.partition).u8(PARTITION_ID_LENGTH).u32(partitioning.partitionId);
      return;
    case "key":
      checkKey(partitioning.key);
      writer.u8(Kind.key).bytes8(partitioning.key);
  }
}

/**
 * The counterpart of `writePartitioning`. A key is a view of the reader's bytes.
 *
 * @throws WireError `unknown_kind`, `bad_length` when the length does not suit the kind
 */
export function readPartitioning(reader: ByteReader): Partitioning {
  const position = reader.position;
  const kind = reader.u8();
  const length = reader.u8();
  switch (kind) {
    case Kind.balanced:
      if (length !== 0) break;
      return BALANCED;
    case Kind.partition:
      if (length !== PARTITION_ID_LENGTH) break;
      return { kind: "partition", partitionId: reader.u32() };
    case Kind.key:
      if (length < MESSAGE_KEY_LENGTH_MIN) break;
      return { kind: "key", key: reader.bytes(length) };
    default:
      throw new WireError("unknown_kind", position);
  }
  throw new WireError("bad_length", position + 1);
}

function checkKey(key: Uint8Array): void {
  if (key.length >= MESSAGE_KEY_LENGTH_MIN && key.length <= MESSAGE_KEY_LENGTH_MAX) return;
  const limits = `${MESSAGE_KEY_LENGTH_MIN} to ${MESSAGE_KEY_LENGTH_MAX} bytes`;
  throw new CodedError(ErrorCode.InvalidKeyValueLength, `A message key is ${limits}.`, {
    details: { length: key.length },
  });
}
