import type { RepairPartitionReply } from "@millrace/client";
import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { Option } from "commander";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { parseU32 } from "../../formats/whole-number.ts";
import { type Result, sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

interface Typed {
  readonly offsets?: "known" | "none";
}

interface Place {
  readonly stream: number | string;
  readonly topic: number | string;
  readonly partitionId: number;
}

/** `millrace partition repair STREAM TOPIC PARTITION` */
export const addPartitionRepair: AddCommand = (parent, run) => {
  leaf(parent, {
    name: "repair",
    summary:
      "let a damaged partition take writes again, behind the damage, with nothing changed or removed; in a " +
      "cluster the node that is named gets back from the others what is damaged on it",
  })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("<partition>", "id", parseU32)
    .addOption(
      new Option(
        "--offsets <which>",
        "which stored consumer offsets count when the damage hides some: those still known, or none",
      ).choices(["known", "none"]),
    )
    .action(
      run(
        async (
          { client, output },
          stream: number | string,
          topic: number | string,
          partitionId: number,
          { offsets }: Typed,
        ) => {
          const place = { stream, topic, partitionId };
          const connected = await client();
          const asked = { ...place, ...(offsets === undefined ? {} : { offsets }) };
          for (;;) {
            const reply = await connected.repairPartition(asked).catch(explainUnknown);
            if (reply.outcome !== "under-way") return resultOf(place, reply);
            output.remark(goesOn(reply));
          }
        },
      ),
    );
};

/** Servers of others do not know the command. */
function explainUnknown(error: unknown): never {
  if (!isCodedError(error, ErrorCode.InvalidCommand)) throw error;
  throw new CodedError(ErrorCode.FeatureUnavailable, "This server does not repair partitions.", {
    cause: error,
  });
}

/** A node of a cluster fetches what may be a terabyte. */
function goesOn({ damage }: RepairPartitionReply): string {
  const what =
    damage === "" ? "The node looks for damage." : `The other nodes are asked for what is damaged: ${damage}`;
  return `${what} It goes on also when this command is ended.`;
}

function resultOf(place: Place, reply: RepairPartitionReply): Result {
  const { outcome, nextOffset, damage, offsets } = reply;
  const where = `Partition ${place.partitionId} of topic ${describe(place.topic)}`;
  if (outcome === "offsets-in-doubt") throw offsetsInDoubt(place, damage);
  const json = { outcome, next_offset: nextOffset, damage, offsets };
  if (outcome === "fetched") {
    return sentence(`${where} has on this node what the others have. Damaged was: ${damage}`, json);
  }
  if (outcome === "healthy") return sentence(`${where} takes writes; there is nothing to repair.`, json);
  const text = `${where} takes writes again from offset ${nextOffset} on. What is damaged stays: ${damage}`;
  return sentence(text, json);
}

function offsetsInDoubt({ stream, topic, partitionId }: Place, damage: string): CodedError {
  const command = `millrace partition repair ${stream} ${topic} ${partitionId} --offsets`;
  const next =
    `With "${command} known" consumers go on from the offsets that can still be read, which may be older; ` +
    `with "${command} none" they begin anew.`;
  const message = `Nothing was repaired: stored consumer offsets may have been lost. ${damage}`;
  return new CodedError(ErrorCode.PartitionDamaged, message, { details: { next } });
}
