import { type AddCommand, group } from "../command.ts";
import { addClientGet } from "./get.ts";
import { addClientList } from "./list.ts";

/** `millrace client ...` */
export const addClient: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "client", alias: "c", summary: "look at the connected clients" },
    [addClientGet, addClientList],
    run,
  );
