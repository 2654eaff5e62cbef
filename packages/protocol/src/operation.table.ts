/** Who serves an operation: the connection's own node, the session table, the catalog, or a partition. */
export type Plane = "direct" | "session" | "metadata" | "partition";

/** One operation byte of request and reply headers. */
export interface OperationRow {
  readonly name: string;
  readonly byte: number;
  readonly plane: Plane;
  /** True when the body of a reply that carries this byte starts with a result section. */
  readonly resultSection: boolean;
  /** False for bytes that only a server writes: into its log, or into the reply to another operation. */
  readonly requested: boolean;
}

const row = (name: string, byte: number, plane: Plane, resultSection: boolean, requested = true): OperationRow =>
  ({ name, byte, plane, resultSection, requested });

/**
 * Operation bytes by name. Byte 0 (reserved) is invalid and has no name here.
 *
 * @see specification, wire protocol, section 3.1
 */
export const Operation = {
  Register: 1,
  NonReplicated: 2,
  Logout: 3,
  CreateTopicWithAssignments: 64,
  CreatePartitionsWithAssignments: 65,
  RemoveConsumerGroupMember: 66,
  CompleteConsumerGroupRevocation: 67,
  TruncatePartition: 68,
  CreateStream: 128,
  UpdateStream: 129,
  DeleteStream: 130,
  PurgeStream: 131,
  CreateTopic: 132,
  UpdateTopic: 133,
  DeleteTopic: 134,
  PurgeTopic: 135,
  CreatePartitions: 136,
  DeletePartitions: 137,
  DeleteSegments: 138,
  CreateConsumerGroup: 139,
  DeleteConsumerGroup: 140,
  CreateUser: 141,
  UpdateUser: 142,
  DeleteUser: 143,
  ChangePassword: 144,
  UpdatePermissions: 145,
  CreatePersonalAccessToken: 146,
  DeletePersonalAccessToken: 147,
  JoinConsumerGroup: 148,
  LeaveConsumerGroup: 149,
  SendMessages: 160,
  StoreConsumerOffset: 161,
  DeleteConsumerOffset: 162,
} as const;

/** Every operation byte with its plane and the shape of its replies. */
export const OPERATIONS: readonly OperationRow[] = [
  row("Register", Operation.Register, "session", true),
  row("NonReplicated", Operation.NonReplicated, "direct", false),
  row("Logout", Operation.Logout, "session", false),
  row("CreateTopicWithAssignments", Operation.CreateTopicWithAssignments, "metadata", true, false),
  row("CreatePartitionsWithAssignments", Operation.CreatePartitionsWithAssignments, "metadata", true, false),
  row("RemoveConsumerGroupMember", Operation.RemoveConsumerGroupMember, "metadata", true, false),
  row("CompleteConsumerGroupRevocation", Operation.CompleteConsumerGroupRevocation, "metadata", true, false),
  row("TruncatePartition", Operation.TruncatePartition, "metadata", true, false),
  row("CreateStream", Operation.CreateStream, "metadata", true),
  row("UpdateStream", Operation.UpdateStream, "metadata", true),
  row("DeleteStream", Operation.DeleteStream, "metadata", true),
  row("PurgeStream", Operation.PurgeStream, "metadata", true),
  row("CreateTopic", Operation.CreateTopic, "metadata", true),
  row("UpdateTopic", Operation.UpdateTopic, "metadata", true),
  row("DeleteTopic", Operation.DeleteTopic, "metadata", true),
  row("PurgeTopic", Operation.PurgeTopic, "metadata", true),
  row("CreatePartitions", Operation.CreatePartitions, "metadata", true),
  row("DeletePartitions", Operation.DeletePartitions, "metadata", true),
  row("DeleteSegments", Operation.DeleteSegments, "metadata", false),
  row("CreateConsumerGroup", Operation.CreateConsumerGroup, "metadata", true),
  row("DeleteConsumerGroup", Operation.DeleteConsumerGroup, "metadata", true),
  row("CreateUser", Operation.CreateUser, "metadata", true),
  row("UpdateUser", Operation.UpdateUser, "metadata", true),
  row("DeleteUser", Operation.DeleteUser, "metadata", true),
  row("ChangePassword", Operation.ChangePassword, "metadata", true),
  row("UpdatePermissions", Operation.UpdatePermissions, "metadata", true),
  row("CreatePersonalAccessToken", Operation.CreatePersonalAccessToken, "metadata", true),
  row("DeletePersonalAccessToken", Operation.DeletePersonalAccessToken, "metadata", true),
  row("JoinConsumerGroup", Operation.JoinConsumerGroup, "metadata", true),
  row("LeaveConsumerGroup", Operation.LeaveConsumerGroup, "metadata", true),
  row("SendMessages", Operation.SendMessages, "partition", false),
  row("StoreConsumerOffset", Operation.StoreConsumerOffset, "partition", true),
  row("DeleteConsumerOffset", Operation.DeleteConsumerOffset, "partition", true),
];
