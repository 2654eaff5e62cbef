import { rows } from "../../output/result.ts";
import { type AddCommand, listLeaf } from "../command.ts";
import { USER_FIELDS } from "./fields.ts";

/** `millrace user list` */
export const addUserList: AddCommand = (parent, run) => {
  listLeaf(parent, { name: "list", alias: "l", summary: "list the users" }).action(
    run(async ({ client }) => rows(USER_FIELDS, await (await client()).getUsers(), "No users found!")),
  );
};
