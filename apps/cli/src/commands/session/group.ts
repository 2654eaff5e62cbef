import { type AddCommand, group } from "../command.ts";
import { addSessionStatus } from "./status.ts";

/** `millrace session ...` */
export const addSession: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "session", alias: "sess", summary: "look at the stored login" },
    [addSessionStatus],
    run,
  );
