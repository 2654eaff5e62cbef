import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace topic delete STREAM TOPIC` */
export const addTopicDelete: AddCommand = (parent, run) => {
  leaf(parent, { name: "delete", alias: "d", summary: "delete a topic with its messages" })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .action(
      run(async ({ client }, stream: number | string, topic: number | string) => {
        await (await client()).deleteTopic(stream, topic);
        return sentence(`Topic ${describe(topic)} of stream ${describe(stream)} deleted.`, {
          stream,
          topic,
          deleted: true,
        });
      }),
    );
};
