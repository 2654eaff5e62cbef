import type { GroupDetails } from "@millrace/client";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { Command } from "commander";
import type { Client } from "../../connection/client.ts";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";

/** A group as typed. */
export interface GroupPlace {
  readonly stream: number | string;
  readonly topic: number | string;
  readonly group: number | string;
}

/** Adds STREAM TOPIC GROUP, which most commands about groups have. */
export function addGroupTarget(command: Command): Command {
  return command
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("<group>", "id or name", parseIdOrName);
}

/**
 * The group, which must exist. @throws CodedError ConsumerGroupIdNotFound, StreamIdNotFound, TopicIdNotFound
 */
export async function getGroup(client: Client, place: GroupPlace): Promise<GroupDetails> {
  const group = await client.getConsumerGroup(place);
  if (group !== undefined) return group;
  const text = `There is no consumer group ${describe(place.group)} in topic ${describe(place.topic)}.`;
  throw new CodedError(ErrorCode.ConsumerGroupIdNotFound, text);
}
