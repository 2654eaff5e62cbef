import { MetadataOperation } from "@millrace/metadata";

/** Operations by which what partitions hold goes. */
export const PURGES: ReadonlySet<number> = new Set([
  MetadataOperation.purgeTopic,
  MetadataOperation.purgeStream,
]);

/** Operations by which partitions come, perhaps in the place of others. */
export const MAKING: ReadonlySet<number> = new Set([
  MetadataOperation.createTopic,
  MetadataOperation.createPartitions,
]);

/** Operations by which partitions go. */
export const DELETING: ReadonlySet<number> = new Set([
  MetadataOperation.deleteStream,
  MetadataOperation.deleteTopic,
  MetadataOperation.deletePartitions,
]);
