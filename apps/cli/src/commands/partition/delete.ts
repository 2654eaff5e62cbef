import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { parseBatchCount } from "../../formats/whole-number.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace partition delete STREAM TOPIC COUNT` */
export const addPartitionDelete: AddCommand = (parent, run) => {
  leaf(parent, {
    name: "delete",
    alias: "d",
    summary: "remove the last partitions of a topic with their messages",
  })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("<count>", "how many, 1 to 1000", parseBatchCount)
    .action(
      run(async ({ client }, stream: number | string, topic: number | string, count: number) => {
        await (await client()).deletePartitions(stream, topic, count);
        const where = `topic ${describe(topic)} of stream ${describe(stream)}`;
        return sentence(`Partitions removed from ${where}: ${count}.`, {
          stream,
          topic,
          partitions_removed: count,
        });
      }),
    );
};
