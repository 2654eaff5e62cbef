import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";
import type { Identifier } from "../identifier.ts";
import { readTopicTarget, writeTopicTarget } from "../topics/topic-target.ts";

/** Deletes the oldest sealed segments of a partition. The reply has no payload and says TruncatePartition. */
export interface DeleteSegments {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly partitionId: number;
  readonly segmentsCount: number;
}

/** Shape: stream identifier, topic identifier, partition u32, segments u32. */
export function encodeDeleteSegments(body: DeleteSegments): Uint8Array {
  return encodeWith(writeDeleteSegments, body);
}

/** The counterpart of `encodeDeleteSegments`; throws WireError. */
export function decodeDeleteSegments(bytes: Uint8Array): DeleteSegments {
  return decodeWith(readDeleteSegments, bytes);
}

function writeDeleteSegments(writer: ByteWriter, body: DeleteSegments): void {
  writeTopicTarget(writer, body);
  writer.u32(body.partitionId).u32(body.segmentsCount);
}

function readDeleteSegments(reader: ByteReader): DeleteSegments {
  return { ...readTopicTarget(reader), partitionId: reader.u32(), segmentsCount: reader.u32() };
}
