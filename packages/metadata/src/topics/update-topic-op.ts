import { ByteReader, ByteWriter, WireError } from "@millrace/framing";
import { type Identifier, readIdentifier, writeIdentifier, writeOptionsBlock } from "@millrace/protocol";
import { optionEntries } from "../options/option-map.ts";
import type { ResolvedTopicUpdate } from "../options/resolve-topic-options.ts";
import type { TopicSettingsChange } from "../options/topic-settings.ts";
import { readOptionMap } from "./create-topic-op.ts";
import { readCompression } from "./topic-settings-codec.ts";

/** UpdateTopic as the log carries it: the options that change, as sent, and what they come to. */
export interface UpdateTopicOp extends ResolvedTopicUpdate {
  readonly stream: Identifier;
  readonly topic: Identifier;
  readonly name: string;
}

const Changed = { messageExpiry: 1, maxTopicSize: 2, compression: 4 } as const;
const CHANGED_ALL = Changed.messageExpiry | Changed.maxTopicSize | Changed.compression;

/**
 * Shape: stream identifier, topic identifier, name, options block, changed u8 (1 expiry, 2 size limit,
 * 4 compression), then those that changed: expiry u64, size limit u64, compression u8.
 */
export function encodeUpdateTopicOp(op: UpdateTopicOp): Uint8Array {
  const writer = new ByteWriter();
  writeIdentifier(writer, op.stream);
  writeIdentifier(writer, op.topic);
  writer.name(op.name);
  writeOptionsBlock(writer, optionEntries(op.options));
  const { messageExpiry, maxTopicSize, compression } = op.change;
  writer.u8(
    (messageExpiry === undefined ? 0 : Changed.messageExpiry) |
      (maxTopicSize === undefined ? 0 : Changed.maxTopicSize) |
      (compression === undefined ? 0 : Changed.compression),
  );
  if (messageExpiry !== undefined) writer.u64(messageExpiry);
  if (maxTopicSize !== undefined) writer.u64(maxTopicSize);
  if (compression !== undefined) writer.u8(compression);
  return writer.finish();
}

/**
 * The counterpart of `encodeUpdateTopicOp`; option bytes are copies.
 * @throws WireError, CodedError OptionsBlockTooLarge
 */
export function decodeUpdateTopicOp(bytes: Uint8Array): UpdateTopicOp {
  const reader = new ByteReader(bytes);
  const op = {
    stream: readIdentifier(reader),
    topic: readIdentifier(reader),
    name: reader.name(),
    options: readOptionMap(reader),
    change: readChange(reader),
  };
  reader.finish();
  return op;
}

function readChange(reader: ByteReader): TopicSettingsChange {
  const position = reader.position;
  const changed = reader.u8();
  if (changed > CHANGED_ALL) throw new WireError("bad_value", position);
  return {
    ...(changed & Changed.messageExpiry ? { messageExpiry: reader.u64() } : {}),
    ...(changed & Changed.maxTopicSize ? { maxTopicSize: reader.u64() } : {}),
    ...(changed & Changed.compression ? { compression: readCompression(reader) } : {}),
  };
}
