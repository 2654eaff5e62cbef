import { properties, rows } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { GROUP_FIELDS, MEMBER_FIELDS } from "./fields.ts";
import { addGroupTarget, getGroup } from "./target.ts";

/** `millrace consumer-group get STREAM TOPIC GROUP` */
export const addGroupGet: AddCommand = (parent, run) => {
  const command = leaf(parent, {
    name: "get",
    alias: "g",
    summary: "show a group, its members and their shares",
  });
  addGroupTarget(command).action(
    run(async ({ client }, stream: number | string, topic: number | string, group: number | string) => {
      const found = await getGroup(await client(), { stream, topic, group });
      const members = rows(MEMBER_FIELDS, found.members, "The group has no members.");
      return properties(GROUP_FIELDS, found, { members });
    }),
  );
};
