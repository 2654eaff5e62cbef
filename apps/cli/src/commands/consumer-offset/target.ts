import { type Command, Option } from "commander";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { parseU32 } from "../../formats/whole-number.ts";

/** The `--kind` option as typed. */
export interface KindTyped {
  readonly kind: "consumer" | "consumer-group";
}

/** Adds CONSUMER STREAM TOPIC PARTITION and `--kind`, which all commands of the group have. */
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

/** The consumer that CONSUMER and `--kind` name. */
export function consumerOf(typed: number | string, { kind }: KindTyped) {
  return kind === "consumer-group" ? { group: typed } : typed;
}

/** The consumer and its place, for sentences. */
export function whereText(consumer: number | string, topic: number | string, partition: number): string {
  return `consumer ${describe(consumer)} in partition ${partition} of topic ${describe(topic)}`;
}
