import { type AddCommand, group } from "../command.ts";
import { addGroupCreate } from "./create.ts";
import { addGroupDelete } from "./delete.ts";
import { addGroupGet } from "./get.ts";
import { addGroupLag } from "./lag.ts";
import { addGroupList } from "./list.ts";

/** `millrace consumer-group ...` */
export const addConsumerGroup: AddCommand = (parent, run) =>
  group(
    parent,
    {
      name: "consumer-group",
      alias: ["g", "group"],
      summary: "create, look at and remove consumer groups; show their lag",
    },
    [addGroupCreate, addGroupGet, addGroupList, addGroupDelete, addGroupLag],
    run,
  );
