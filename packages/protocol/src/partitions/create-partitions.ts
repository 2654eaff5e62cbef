import { decodeWith, encodeWith } from "../body-codec.ts";
import { type PartitionsChange, readPartitionsChange, writePartitionsChange } from "./partitions-change.ts";

/** Adds partitions; their ids continue after the highest. The reply has no payload. */
export type CreatePartitions = PartitionsChange;

/** The body of a CreatePartitions request. */
export function encodeCreatePartitions(body: CreatePartitions): Uint8Array {
  return encodeWith(writePartitionsChange, body);
}

/** The counterpart of `encodeCreatePartitions`; throws WireError. */
export function decodeCreatePartitions(bytes: Uint8Array): CreatePartitions {
  return decodeWith(readPartitionsChange, bytes);
}
