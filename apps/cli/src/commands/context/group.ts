import { type AddCommand, group } from "../command.ts";
import { addContextCreate } from "./create.ts";
import { addContextDelete } from "./delete.ts";
import { addContextList } from "./list.ts";
import { addContextShow } from "./show.ts";
import { addContextUse } from "./use.ts";

/** `millrace context ...` */
export const addContext: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "context", alias: "ctx", summary: "keep addresses and credentials of servers under names" },
    [addContextCreate, addContextList, addContextShow, addContextUse, addContextDelete],
    run,
  );
