import { properties, rows } from "../output/result.ts";
import { CLIENT_FIELDS, CLIENT_GROUP_FIELDS } from "./client/fields.ts";
import { type AddCommand, leaf } from "./command.ts";

/** `millrace me` */
export const addMe: AddCommand = (parent, run) => {
  leaf(parent, { name: "me", summary: "show the session this command has" }).action(
    run(async ({ client }) => {
      const me = await (await client()).getMe();
      return properties(CLIENT_FIELDS, me, {
        consumer_groups: rows(CLIENT_GROUP_FIELDS, me.groups, "Member of no consumer groups."),
      });
    }),
  );
};
