import { Operation } from "@millrace/protocol";

/**
 * Operations as the metadata log knows them. Most carry the wire body; 64, 133 and 201 have bodies of their own.
 * @see docs/spec/metadata-operations.md
 */
export const MetadataOperation = {
  register: Operation.Register,
  logout: Operation.Logout,
  createTopic: Operation.CreateTopicWithAssignments,
  truncatePartition: Operation.TruncatePartition,
  createStream: Operation.CreateStream,
  updateStream: Operation.UpdateStream,
  deleteStream: Operation.DeleteStream,
  purgeStream: Operation.PurgeStream,
  updateTopic: Operation.UpdateTopic,
  deleteTopic: Operation.DeleteTopic,
  purgeTopic: Operation.PurgeTopic,
  createPartitions: Operation.CreatePartitions,
  deletePartitions: Operation.DeletePartitions,
  /** Ours: 200 to 249 never travel between client and server. */
  createRootUser: 201,
} as const;
