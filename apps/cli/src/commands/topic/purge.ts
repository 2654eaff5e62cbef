import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace topic purge STREAM TOPIC` */
export const addTopicPurge: AddCommand = (parent, run) => {
  leaf(parent, { name: "purge", alias: "p", summary: "remove all messages of a topic, keep its partitions" })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .action(
      run(async ({ client }, stream: number | string, topic: number | string) => {
        await (await client()).purgeTopic(stream, topic);
        return sentence(`Topic ${describe(topic)} of stream ${describe(stream)} purged.`, {
          stream,
          topic,
          purged: true,
        });
      }),
    );
};
