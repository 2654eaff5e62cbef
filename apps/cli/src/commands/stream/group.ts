import { type AddCommand, group } from "../command.ts";
import { addStreamCreate } from "./create.ts";
import { addStreamDelete } from "./delete.ts";
import { addStreamGet } from "./get.ts";
import { addStreamList } from "./list.ts";
import { addStreamPurge } from "./purge.ts";
import { addStreamUpdate } from "./update.ts";

/** `millrace stream ...` */
export const addStream: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "stream", alias: "s", summary: "create, look at and remove streams" },
    [addStreamCreate, addStreamGet, addStreamList, addStreamUpdate, addStreamDelete, addStreamPurge],
    run,
  );
