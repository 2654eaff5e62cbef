import { type AddCommand, group } from "../command.ts";
import { addClusterMetadata } from "./metadata.ts";

/** `millrace cluster ...` */
export const addCluster: AddCommand = (parent, run) =>
  group(parent, { name: "cluster", alias: "cl", summary: "look at the cluster" }, [addClusterMetadata], run);
