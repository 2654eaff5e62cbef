import { rows } from "../../output/result.ts";
import { type AddCommand, listLeaf } from "../command.ts";
import { STREAM_FIELDS } from "./fields.ts";

/** `millrace stream list` */
export const addStreamList: AddCommand = (parent, run) => {
  listLeaf(parent, { name: "list", alias: "l", summary: "list the streams" }).action(
    run(async ({ client }) => rows(STREAM_FIELDS, await (await client()).getStreams(), "No streams found!")),
  );
};
