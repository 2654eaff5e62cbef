import { parseIdOrName } from "../../formats/id-or-name.ts";
import { rows } from "../../output/result.ts";
import { type AddCommand, listLeaf } from "../command.ts";
import { GROUP_FIELDS } from "./fields.ts";

/** `millrace consumer-group list STREAM TOPIC` */
export const addGroupList: AddCommand = (parent, run) => {
  listLeaf(parent, { name: "list", alias: "l", summary: "list the consumer groups of a topic" })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .action(
      run(async ({ client }, stream: number | string, topic: number | string) => {
        const groups = await (await client()).getConsumerGroups(stream, topic);
        return rows(GROUP_FIELDS, groups, "No consumer groups found!");
      }),
    );
};
