import { decodeWith, encodeWith } from "../body-codec.ts";
import { type PartitionsChange, readPartitionsChange, writePartitionsChange } from "./partitions-change.ts";

/** Removes partitions, the highest ids first. The reply has no payload. */
export type DeletePartitions = PartitionsChange;

/** The body of a DeletePartitions request. */
export function encodeDeletePartitions(body: DeletePartitions): Uint8Array {
  return encodeWith(writePartitionsChange, body);
}

/** The counterpart of `encodeDeletePartitions`; throws WireError. */
export function decodeDeletePartitions(bytes: Uint8Array): DeletePartitions {
  return decodeWith(readPartitionsChange, bytes);
}
