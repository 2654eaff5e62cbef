import { type AddCommand, group } from "../command.ts";
import { addClusterDev } from "./dev.ts";
import { addClusterMetadata } from "./metadata.ts";

/** `millrace cluster ...` */
export const addCluster: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "cluster", alias: "cl", summary: "look at the cluster, or start one here" },
    [addClusterMetadata, addClusterDev],
    run,
  );
