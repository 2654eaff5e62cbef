import { type AddCommand, group } from "../command.ts";
import { addPatCreate } from "./create.ts";
import { addPatDelete } from "./delete.ts";
import { addPatList } from "./list.ts";

/** `millrace pat ...` */
export const addPat: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "pat", summary: "create and delete your personal access tokens" },
    [addPatCreate, addPatList, addPatDelete],
    run,
  );
