import type { OffsetPlace } from "@millrace/client";
import { type Command, Option } from "commander";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { parseU32 } from "../../formats/whole-number.ts";

/** The `--kind` option as typed. */
interface KindTyped {
  readonly kind: "consumer" | "consumer-group";
}

/** CONSUMER STREAM TOPIC PARTITION, which all commands of the group begin with. */
export type OffsetWords = readonly [
  consumer: number | string,
  stream: number | string,
  topic: number | string,
  partitionId: number,
];

/** The same with the options behind it, as the action of a command gets them. */
export type OffsetTyped = [...OffsetWords, typed: KindTyped];

/** Whose offset, where, and how sentences and JSON name it. */
export interface OffsetTarget {
  readonly place: OffsetPlace;
  readonly where: string;
  readonly json: Readonly<Record<"consumer" | "stream" | "topic" | "partition_id", number | string>>;
}

/** Adds the arguments of `OffsetWords` and `--kind`. */
export function addOffsetTarget(command: Command): Command {
  return command
    .argument("<consumer>", "id or name", parseIdOrName)
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("<partition>", "number from 0", parseU32)
    .addOption(
      new Option("-k, --kind <kind>", "whose offset it is")
        .choices(["consumer", "consumer-group"])
        .default("consumer"),
    );
}

/** What the arguments and `--kind` name. */
export function offsetTarget(
  [consumer, stream, topic, partitionId]: OffsetWords,
  { kind }: KindTyped,
): OffsetTarget {
  const owner = kind === "consumer-group" ? { group: consumer } : consumer;
  return {
    place: { consumer: owner, stream, topic, partitionId },
    where: `consumer ${describe(consumer)} in partition ${partitionId} of topic ${describe(topic)}`,
    json: { consumer, stream, topic, partition_id: partitionId },
  };
}
