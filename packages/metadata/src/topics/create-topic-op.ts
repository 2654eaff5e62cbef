import { ByteReader, ByteWriter } from "@millrace/framing";
import {
  type Identifier,
  readIdentifier,
  readOptionsBlock,
  writeIdentifier,
  writeOptionsBlock,
} from "@millrace/protocol";
import { type OptionMap, optionEntries, optionMap } from "../options/option-map.ts";
import type { ResolvedTopicOptions } from "../options/resolve-topic-options.ts";
import { readTopicSettings, writeTopicSettings } from "./topic-settings-codec.ts";

/** CreateTopic as the log carries it: options resolved, so that a later catalog changes nothing about it. */
export interface CreateTopicOp extends ResolvedTopicOptions {
  readonly stream: Identifier;
  readonly partitionsCount: number;
  readonly name: string;
}

/**
 * Shape: stream identifier, partitions u32, name, explicit options block, derived options block, settings.
 */
export function encodeCreateTopicOp(op: CreateTopicOp): Uint8Array {
  const writer = new ByteWriter();
  writeIdentifier(writer, op.stream);
  writer.u32(op.partitionsCount).name(op.name);
  writeOptionsBlock(writer, optionEntries(op.explicit));
  writeOptionsBlock(writer, optionEntries(op.derived));
  writeTopicSettings(writer, op.settings);
  return writer.finish();
}

/**
 * The counterpart of `encodeCreateTopicOp`; option bytes are copies.
 * @throws WireError, CodedError OptionsBlockTooLarge
 */
export function decodeCreateTopicOp(bytes: Uint8Array): CreateTopicOp {
  const reader = new ByteReader(bytes);
  const op = {
    stream: readIdentifier(reader),
    partitionsCount: reader.u32(),
    name: reader.name(),
    explicit: readOptionMap(reader),
    derived: readOptionMap(reader),
    settings: readTopicSettings(reader),
  };
  reader.finish();
  return op;
}

/** An options block as a map with bytes of its own. */
export function readOptionMap(reader: ByteReader): OptionMap {
  return optionMap(readOptionsBlock(reader).map(({ key, value }) => [key, value] as const));
}
