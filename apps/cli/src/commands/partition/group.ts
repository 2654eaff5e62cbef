import { type AddCommand, group } from "../command.ts";
import { addPartitionCreate } from "./create.ts";
import { addPartitionDelete } from "./delete.ts";
import { addPartitionRepair } from "./repair.ts";

/** `millrace partition ...` */
export const addPartition: AddCommand = (parent, run) =>
  group(
    parent,
    {
      name: "partition",
      alias: "p",
      summary: "add partitions to a topic, remove its last ones, repair a damaged one",
    },
    [addPartitionCreate, addPartitionDelete, addPartitionRepair],
    run,
  );
