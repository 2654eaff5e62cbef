import { rows } from "../../output/result.ts";
import { type AddCommand, listLeaf } from "../command.ts";
import { CLIENT_FIELDS } from "./fields.ts";

/** `millrace client list` */
export const addClientList: AddCommand = (parent, run) => {
  listLeaf(parent, { name: "list", alias: "l", summary: "list the connected clients" }).action(
    run(async ({ client }) => rows(CLIENT_FIELDS, await (await client()).getClients(), "No clients found!")),
  );
};
