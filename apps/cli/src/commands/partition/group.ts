import { type AddCommand, group } from "../command.ts";
import { addPartitionCreate } from "./create.ts";
import { addPartitionDelete } from "./delete.ts";

/** `millrace partition ...` */
export const addPartition: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "partition", alias: "p", summary: "add partitions to a topic or remove its last ones" },
    [addPartitionCreate, addPartitionDelete],
    run,
  );
