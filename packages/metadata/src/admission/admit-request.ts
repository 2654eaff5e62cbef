import { CodedError, ErrorCode } from "@millrace/errors";
import {
  decodeBody,
  decodeCreateConsumerGroup,
  decodeCreatePartitions,
  decodeCreateStream,
  decodeCreateTopic,
  decodeDeleteConsumerGroup,
  decodeDeletePartitions,
  decodeDeletePersonalAccessToken,
  decodeDeleteSegments,
  decodeDeleteStream,
  decodeDeleteTopic,
  decodeDeleteUser,
  decodeLeaveConsumerGroup,
  decodePurgeStream,
  decodePurgeTopic,
  decodeUpdatePermissions,
  decodeUpdateStream,
  decodeUpdateTopic,
  decodeUpdateUser,
  Operation,
  type OptionEntries,
  PARTITIONS_PER_REQUEST_MAX,
} from "@millrace/protocol";
import { MetadataOperation } from "../operation.table.ts";
import { refuseOptions, resolveTopicOptions, resolveTopicUpdate } from "../options/resolve-topic-options.ts";
import { encodeCreateTopicOp } from "../topics/create-topic-op.ts";
import { encodeUpdateTopicOp } from "../topics/update-topic-op.ts";

/** What goes into the log for a client's request. */
export interface AdmittedRequest {
  readonly operation: number;
  /** New bytes, or the request's own body, borrowed. */
  readonly body: Uint8Array;
}

/** What a server allows beside what the catalog of options says. */
export interface AdmissionLimits {
  /** Smallest segment size that a new topic may ask for, in bytes. */
  readonly segmentSizeMin?: number;
}

type Admit = (body: Uint8Array, limits: AdmissionLimits) => AdmittedRequest;

const ADMISSIONS: ReadonlyMap<number, Admit> = new Map<number, Admit>([
  [Operation.CreateStream, admitAs(MetadataOperation.createStream, decodeCreateStream, noOptions)],
  [Operation.UpdateStream, admitAs(MetadataOperation.updateStream, decodeUpdateStream, noOptions)],
  [Operation.DeleteStream, admitAs(MetadataOperation.deleteStream, decodeDeleteStream)],
  [Operation.PurgeStream, admitAs(MetadataOperation.purgeStream, decodePurgeStream)],
  [Operation.CreateTopic, admitCreateTopic],
  [Operation.UpdateTopic, admitUpdateTopic],
  [Operation.DeleteTopic, admitAs(MetadataOperation.deleteTopic, decodeDeleteTopic)],
  [Operation.PurgeTopic, admitAs(MetadataOperation.purgeTopic, decodePurgeTopic)],
  [
    Operation.CreatePartitions,
    admitAs(MetadataOperation.createPartitions, decodeCreatePartitions, somePartitions),
  ],
  [
    Operation.DeletePartitions,
    admitAs(MetadataOperation.deletePartitions, decodeDeletePartitions, somePartitions),
  ],
  [Operation.CreateConsumerGroup, admitAs(MetadataOperation.createConsumerGroup, decodeCreateConsumerGroup)],
  [Operation.DeleteConsumerGroup, admitAs(MetadataOperation.deleteConsumerGroup, decodeDeleteConsumerGroup)],
  [Operation.LeaveConsumerGroup, admitAs(MetadataOperation.leaveConsumerGroup, decodeLeaveConsumerGroup)],
  [Operation.DeleteSegments, admitAs(MetadataOperation.truncatePartition, decodeDeleteSegments)],
  [Operation.UpdateUser, admitAs(MetadataOperation.updateUser, decodeUpdateUser, noOptions)],
  [Operation.DeleteUser, admitAs(MetadataOperation.deleteUser, decodeDeleteUser)],
  [Operation.UpdatePermissions, admitAs(MetadataOperation.updatePermissions, decodeUpdatePermissions)],
  [
    Operation.DeletePersonalAccessToken,
    admitAs(MetadataOperation.deletePersonalAccessToken, decodeDeletePersonalAccessToken),
  ],
]);

/**
 * Checks a client's metadata request before it costs an op, and gives the op its form in the log.
 *
 * Only what needs no catalog state is checked here; the rest is decided when the op commits. The reply
 * carries the returned operation byte: 64 for CreateTopic, 68 for DeleteSegments.
 * JoinConsumerGroup is not admitted here: its op carries what partitions report, see `encodeJoinGroupOp`.
 * @throws CodedError InvalidCommand (with `details.position`), TooManyPartitions, UnsupportedOptionKey,
 *         InvalidOptionValue, OptionsBlockTooLarge, InvalidTopicSize; FeatureUnavailable for what is no
 *         operation of the catalog, and for CreateUser, ChangePassword and CreatePersonalAccessToken: they
 *         carry secrets that the log must not see, so their ops are made by whoever hashes them
 * @see wire-protocol, section 4.1, first column
 */
export function admitRequest(
  operation: number,
  body: Uint8Array,
  limits: AdmissionLimits = {},
): AdmittedRequest {
  const admit = ADMISSIONS.get(operation);
  if (admit === undefined) {
    throw new CodedError(ErrorCode.FeatureUnavailable, `Operation ${operation} is not available.`, {
      details: { operation },
    });
  }
  return admit(body, limits);
}

/** Admits a request whose wire body goes into the log as it is. */
function admitAs<T>(operation: number, decode: (body: Uint8Array) => T, check?: (request: T) => void): Admit {
  return (body) => {
    const request = decodeBody(decode, body);
    check?.(request);
    return { operation, body };
  };
}

function admitCreateTopic(body: Uint8Array, { segmentSizeMin }: AdmissionLimits): AdmittedRequest {
  const { stream, partitionsCount, name, options } = decodeBody(decodeCreateTopic, body);
  if (partitionsCount > PARTITIONS_PER_REQUEST_MAX) throw tooManyPartitions(partitionsCount);
  const resolved = resolveTopicOptions(options, {
    partitionsCount,
    ...(segmentSizeMin === undefined ? {} : { segmentSizeMin }),
  });
  const op = { stream, partitionsCount, name, ...resolved };
  return { operation: MetadataOperation.createTopic, body: encodeCreateTopicOp(op) };
}

function admitUpdateTopic(body: Uint8Array): AdmittedRequest {
  const { stream, topic, name, options } = decodeBody(decodeUpdateTopic, body);
  const op = { stream, topic, name, ...resolveTopicUpdate(options) };
  return { operation: MetadataOperation.updateTopic, body: encodeUpdateTopicOp(op) };
}

function noOptions({ options }: { readonly options: OptionEntries }): void {
  refuseOptions(options);
}

function somePartitions({ partitionsCount }: { readonly partitionsCount: number }): void {
  if (partitionsCount === 0 || partitionsCount > PARTITIONS_PER_REQUEST_MAX)
    throw tooManyPartitions(partitionsCount);
}

function tooManyPartitions(partitionsCount: number): CodedError {
  return new CodedError(
    ErrorCode.TooManyPartitions,
    `One request may ask for 1 to ${PARTITIONS_PER_REQUEST_MAX} partitions.`,
    { details: { partitionsCount, limit: PARTITIONS_PER_REQUEST_MAX } },
  );
}
