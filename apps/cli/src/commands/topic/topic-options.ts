import type { Durability, TopicOptions } from "@millrace/client";
import { type Command, Option } from "commander";
import { UsageError } from "../../failures/usage-error.ts";
import { parseExpiry } from "../../formats/expiry.ts";
import { collectKeyValue, type KeyValue } from "../../formats/key-value.ts";
import { parseSize } from "../../formats/size.ts";

/** The options of `topic create` and `topic update` as typed. */
export interface TopicOptionsTyped {
  readonly maxTopicSize?: bigint;
  readonly durability?: Durability;
  readonly consumerOffsetDurability?: Durability;
  readonly set?: readonly KeyValue[];
}

/** Adds `--max-topic-size`, which create and update share. */
export function addSizeOption(command: Command): Command {
  return command.option(
    "-m, --max-topic-size <size>",
    "15GB, 128MiB, unlimited or server_default; beyond it the oldest segments leave",
    parseSize,
  );
}

/** Adds the options that only create has: both durabilities and `--set`. */
export function addCreateOptions(command: Command): Command {
  const policies = ["replicated", "persisted"];
  return command
    .addOption(new Option("--durability <policy>", "when a send is confirmed").choices(policies))
    .addOption(
      new Option("--consumer-offset-durability <policy>", "when a stored offset is confirmed").choices(
        policies,
      ),
    )
    .option("--set <key=value>", "any option that `options topic` lists; repeatable", collectKeyValue);
}

/** Keys on the wire of the options that have an argument or option of their own. */
const PROPERTY_BY_KEY: Readonly<Record<string, keyof TopicOptions>> = {
  compression_algorithm: "compression",
  message_expiry: "messageExpiry",
  max_topic_size: "maxTopicSize",
  durability: "durability",
  consumer_offset_durability: "consumerOffsetDurability",
};

/**
 * The options to send. What was not typed is not sent, so that the server decides on create and keeps on
 * update.
 * @throws UsageError for an option that is given in two ways
 */
export function topicOptions(
  compression: "none" | "gzip",
  expiryWords: readonly string[],
  typed: TopicOptionsTyped,
): TopicOptions {
  const messageExpiry = parseExpiry(expiryWords);
  const { maxTopicSize, durability, consumerOffsetDurability } = typed;
  const own: TopicOptions = {
    compression,
    ...(messageExpiry === undefined ? {} : { messageExpiry }),
    ...(maxTopicSize === undefined ? {} : { maxTopicSize }),
    ...(durability === undefined ? {} : { durability }),
    ...(consumerOffsetDurability === undefined ? {} : { consumerOffsetDurability }),
  };
  return { ...own, options: setOptions(typed.set ?? [], own) };
}

function setOptions(pairs: readonly KeyValue[], own: TopicOptions): Readonly<Record<string, string>> {
  for (const { key } of pairs) {
    const property = PROPERTY_BY_KEY[key];
    if (property !== undefined && property in own) {
      throw new UsageError(`${key} is given twice: by --set and by its own argument or option.`);
    }
  }
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value]));
}
