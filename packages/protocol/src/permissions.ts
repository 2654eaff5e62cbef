import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";
import { readPresence } from "./body-codec.ts";
import { STREAMS_MAX, TOPICS_PER_STREAM_MAX } from "./bounds.ts";

const GLOBAL_FLAGS = [
  "manageServers",
  "readServers",
  "manageUsers",
  "readUsers",
  "manageStreams",
  "readStreams",
  "manageTopics",
  "readTopics",
  "pollMessages",
  "sendMessages",
] as const;
const STREAM_FLAGS = [
  "manageStream",
  "readStream",
  "manageTopics",
  "readTopics",
  "pollMessages",
  "sendMessages",
] as const;
const TOPIC_FLAGS = ["manageTopic", "readTopic", "pollMessages", "sendMessages"] as const;

type Flags<Names extends readonly string[]> = { readonly [Name in Names[number]]: boolean };

/** Grants on everything. */
export type GlobalPermissions = Flags<typeof GLOBAL_FLAGS>;

/** Grants on one topic. */
export type TopicPermissions = Flags<typeof TOPIC_FLAGS>;

/** Grants on one stream and, by topic id, on single topics of it. */
export type StreamPermissions = Flags<typeof STREAM_FLAGS> & {
  readonly topics: ReadonlyMap<number, TopicPermissions>;
};

/** What a user may do; a grant at a higher level covers everything below. Streams are keyed by id. */
export interface Permissions {
  readonly global: GlobalPermissions;
  readonly streams: ReadonlyMap<number, StreamPermissions>;
}

/** Shape: 10 flags, then a chain of streams, each with 6 flags and a chain of topics with 4 flags each. */
export function writePermissions(writer: ByteWriter, permissions: Permissions): void {
  writeFlags(writer, GLOBAL_FLAGS, permissions.global);
  writeChain(writer, permissions.streams, (stream) => {
    writeFlags(writer, STREAM_FLAGS, stream);
    writeChain(writer, stream.topics, (topic) => writeFlags(writer, TOPIC_FLAGS, topic));
  });
}

/**
 * The counterpart of `writePermissions`.
 *
 * @throws WireError `bad_value` when a stream or topic appears twice, `too_many` beyond 1 048 576 streams or
 *   4096
 *         topics in one of them
 */
export function readPermissions(reader: ByteReader): Permissions {
  const global = readFlags(reader, GLOBAL_FLAGS);
  const streams = readChain(reader, STREAMS_MAX, () => {
    const flags = readFlags(reader, STREAM_FLAGS);
    const topics = readChain(reader, TOPICS_PER_STREAM_MAX, () => readFlags(reader, TOPIC_FLAGS));
    return { ...flags, topics };
  });
  return { global, streams };
}

/** Permissions behind `length u32`, which must be exactly what they take. */
export function writePermissionsBlock(writer: ByteWriter, permissions: Permissions): void {
  const position = writer.length;
  writer.u32(0);
  writePermissions(writer, permissions);
  writer.setU32(position, writer.length - position - 4);
}

/** The counterpart of `writePermissionsBlock`; throws WireError `bad_length` when the length is not exact. */
export function readPermissionsBlock(reader: ByteReader): Permissions {
  const position = reader.position;
  const length = reader.u32();
  const permissions = readPermissions(reader);
  if (reader.position - position - 4 !== length) throw new WireError("bad_length", position);
  return permissions;
}

/** Shape of an optional block in requests: `has u8`, then the block when it is 1. */
export function writeOptionalPermissions(writer: ByteWriter, permissions: Permissions | undefined): void {
  writer.u8(permissions === undefined ? 0 : 1);
  if (permissions !== undefined) writePermissionsBlock(writer, permissions);
}

/** The counterpart of `writeOptionalPermissions`. */
export function readOptionalPermissions(reader: ByteReader): Permissions | undefined {
  return readPresence(reader) ? readPermissionsBlock(reader) : undefined;
}

function writeFlags<Names extends readonly string[]>(
  writer: ByteWriter,
  names: Names,
  flags: Flags<Names>,
): void {
  for (const name of names) writer.u8(flags[name as Names[number]] ? 1 : 0);
}

function readFlags<Names extends readonly string[]>(reader: ByteReader, names: Names): Flags<Names> {
  const flags: Record<string, boolean> = {};
  for (const name of names) flags[name] = reader.u8() !== 0;
  return flags as Flags<Names>;
}

/** A chain: `has u8`, then elements of `id u32`, content and `has_next u8`. */
function writeChain<T>(
  writer: ByteWriter,
  elements: ReadonlyMap<number, T>,
  write: (element: T) => void,
): void {
  let left = elements.size;
  writer.u8(left > 0 ? 1 : 0);
  for (const [id, element] of elements) {
    left -= 1;
    writer.u32(id);
    write(element);
    writer.u8(left > 0 ? 1 : 0);
  }
}

function readChain<T>(reader: ByteReader, countMax: number, read: () => T): Map<number, T> {
  const elements = new Map<number, T>();
  let more = readPresence(reader);
  while (more) {
    const position = reader.position;
    const id = reader.u32();
    if (elements.has(id)) throw new WireError("bad_value", position);
    if (elements.size === countMax) throw new WireError("too_many", position);
    elements.set(id, read());
    more = readPresence(reader);
  }
  return elements;
}
