import { type AddCommand, group } from "../command.ts";
import { addClusterDev } from "./dev.ts";
import { addClusterMetadata } from "./metadata.ts";
import { addClusterStatus } from "./status.ts";

/** `millrace cluster ...` */
export const addCluster: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "cluster", alias: "cl", summary: "look at the cluster, or start one here" },
    [addClusterMetadata, addClusterStatus, addClusterDev],
    run,
  );
