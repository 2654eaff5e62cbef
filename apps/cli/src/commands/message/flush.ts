import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { parseU32 } from "../../formats/whole-number.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace message flush STREAM TOPIC PARTITION`: servers of this protocol's version refuse it, and say why. */
export const addMessageFlush: AddCommand = (parent, run) => {
  leaf(parent, {
    name: "flush",
    alias: "f",
    summary: "ask to write a partition to disk; see --durability of topic create",
  })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("<partition>", "number from 0", parseU32)
    .option("-f, --fsync", "ask for it to survive power loss")
    .action(
      run(
        async (
          { client },
          stream: number | string,
          topic: number | string,
          partitionId: number,
          typed: { fsync?: true },
        ) => {
          const fsync = typed.fsync === true;
          const server = await client();
          await server.flushUnsavedBuffer({ stream, topic, partitionId, fsync }).catch(withAdvice);
          const text = `Partition ${partitionId} of topic ${describe(topic)} is written.`;
          return sentence(text, { stream, topic, partition_id: partitionId, fsync });
        },
      ),
    );
};

function withAdvice(error: unknown): never {
  if (!isCodedError(error, ErrorCode.FeatureUnavailable)) throw error;
  const next =
    "When messages are safe is an option of the topic: millrace topic create ... --durability persisted";
  const message = "The server writes messages by itself and takes no flush.";
  throw new CodedError(error.code, message, { details: { next }, cause: error });
}
