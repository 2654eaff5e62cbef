import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { parseBatchCount } from "../../formats/whole-number.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace partition create STREAM TOPIC COUNT` */
export const addPartitionCreate: AddCommand = (parent, run) => {
  leaf(parent, { name: "create", alias: "c", summary: "add partitions to a topic" })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("<count>", "how many, 1 to 1000", parseBatchCount)
    .action(
      run(async ({ client }, stream: number | string, topic: number | string, count: number) => {
        await (await client()).createPartitions(stream, topic, count);
        const where = `topic ${describe(topic)} of stream ${describe(stream)}`;
        return sentence(`Partitions added to ${where}: ${count}.`, {
          stream,
          topic,
          partitions_added: count,
        });
      }),
    );
};
