import { Operation } from "@millrace/protocol";

/**
 * Operations as the metadata log knows them. Most carry the wire body; 64, 66, 67, 133, 141, 144, 146, 148
 * and those from 200 on have bodies of their own.
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
  createUser: Operation.CreateUser,
  updateUser: Operation.UpdateUser,
  deleteUser: Operation.DeleteUser,
  changePassword: Operation.ChangePassword,
  updatePermissions: Operation.UpdatePermissions,
  createPersonalAccessToken: Operation.CreatePersonalAccessToken,
  deletePersonalAccessToken: Operation.DeletePersonalAccessToken,
  createConsumerGroup: Operation.CreateConsumerGroup,
  deleteConsumerGroup: Operation.DeleteConsumerGroup,
  joinConsumerGroup: Operation.JoinConsumerGroup,
  leaveConsumerGroup: Operation.LeaveConsumerGroup,
  removeConsumerGroupMember: Operation.RemoveConsumerGroupMember,
  completeConsumerGroupRevocation: Operation.CompleteConsumerGroupRevocation,
  /** Ours: 200 to 249 never travel between client and server. */
  createRootUser: 201,
  deleteExpiredTokens: 202,
} as const;
