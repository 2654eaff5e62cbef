import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";
import type { Durability, TopicSettings } from "../options/topic-settings.ts";

const DURABILITIES: readonly Durability[] = ["replicated", "persisted"];
/** Largest segment size of the catalog; what is stored was checked against it. */
const SEGMENT_SIZE_MAX = 1 << 30;

/**
 * Shape: expiry u64, size limit u64, compression u8 (1, 2), segment size u32, durability u8, offset
 * durability u8 (0 replicated, 1 persisted), preallocate u8 (0, 1).
 */
export function writeTopicSettings(writer: ByteWriter, settings: TopicSettings): void {
  writer.u64(settings.messageExpiry).u64(settings.maxTopicSize).u8(settings.compression);
  writer.u32(settings.segmentSize);
  writer.u8(DURABILITIES.indexOf(settings.durability));
  writer.u8(DURABILITIES.indexOf(settings.consumerOffsetDurability));
  writer.u8(settings.preallocateSegments ? 1 : 0);
}

/**
 * The counterpart of `writeTopicSettings`.
 * @throws WireError `bad_value` for what no settings can be
 */
export function readTopicSettings(reader: ByteReader): TopicSettings {
  return {
    messageExpiry: reader.u64(),
    maxTopicSize: reader.u64(),
    compression: readCompression(reader),
    segmentSize: readSegmentSize(reader),
    durability: readDurability(reader),
    consumerOffsetDurability: readDurability(reader),
    preallocateSegments: readFlag(reader),
  };
}

/** @throws WireError `bad_value` unless 1 or 2 */
export function readCompression(reader: ByteReader): 1 | 2 {
  const position = reader.position;
  const code = reader.u8();
  if (code === 1 || code === 2) return code;
  throw new WireError("bad_value", position);
}

function readSegmentSize(reader: ByteReader): number {
  const position = reader.position;
  const length = reader.u32();
  if (length >= 1 && length <= SEGMENT_SIZE_MAX) return length;
  throw new WireError("bad_value", position);
}

function readDurability(reader: ByteReader): Durability {
  const position = reader.position;
  const durability = DURABILITIES[reader.u8()];
  if (durability !== undefined) return durability;
  throw new WireError("bad_value", position);
}

function readFlag(reader: ByteReader): boolean {
  const position = reader.position;
  const value = reader.u8();
  if (value <= 1) return value === 1;
  throw new WireError("bad_value", position);
}
