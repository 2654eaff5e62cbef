import { ErrorCode } from "@millrace/errors";

const rows = (status: number, codes: readonly number[]) => codes.map((code) => [code, status] as const);

/** Status by code; every code that is not listed is 400. @see http-api section 7 */
export const STATUS_OF_CODE: ReadonlyMap<number, number> = new Map<number, number>([
  ...rows(401, [
    ErrorCode.Unauthenticated,
    ErrorCode.InvalidPersonalAccessToken,
    ErrorCode.AccessTokenMissing,
    ErrorCode.InvalidAccessToken,
  ]),
  ...rows(403, [ErrorCode.Unauthorized]),
  ...rows(404, [
    ErrorCode.ResourceNotFound,
    ErrorCode.ClientNotFound,
    ErrorCode.StreamIdNotFound,
    ErrorCode.TopicIdNotFound,
    ErrorCode.PartitionNotFound,
    ErrorCode.ConsumerOffsetNotFound,
    ErrorCode.SegmentNotFound,
    ErrorCode.ConsumerGroupIdNotFound,
    ErrorCode.ConsumerGroupNameNotFound,
    ErrorCode.ConsumerGroupMemberNotFound,
  ]),
  ...rows(409, [ErrorCode.InvalidClientId]),
  ...rows(503, [
    ErrorCode.TransientNotCommitted,
    ErrorCode.TransientNotAccepted,
    ErrorCode.CannotEstablishConnection,
    ErrorCode.ShuttingDown,
  ]),
]);

/**
 * The field of the request a code speaks about: those of http-api section 7, and behind them others that can
 * mean only one field.
 */
export const FIELD_OF_CODE: ReadonlyMap<number, string> = new Map<number, string>([
  [ErrorCode.StreamIdNotFound, "stream_id"],
  [ErrorCode.InvalidStreamId, "stream_id"],
  [ErrorCode.TopicIdNotFound, "topic_id"],
  [ErrorCode.InvalidTopicId, "topic_id"],
  [ErrorCode.PartitionNotFound, "partition_id"],
  [ErrorCode.SegmentNotFound, "segment_id"],
  [ErrorCode.ClientNotFound, "client_id"],
  [ErrorCode.InvalidOffset, "offset"],
  [ErrorCode.InvalidConsumerGroupId, "consumer_group_id"],
  [ErrorCode.UserAlreadyExists, "username"],
  [ErrorCode.StreamNameAlreadyExists, "name"],
  [ErrorCode.InvalidStreamName, "name"],
  [ErrorCode.TopicNameAlreadyExists, "name"],
  [ErrorCode.InvalidTopicName, "name"],
  [ErrorCode.ConsumerGroupNameAlreadyExists, "name"],
  [ErrorCode.PersonalAccessTokenAlreadyExists, "name"],
  [ErrorCode.InvalidUsername, "username"],
  [ErrorCode.InvalidPersonalAccessTokenName, "name"],
  [ErrorCode.InvalidPersonalAccessTokenExpiry, "expiry"],
  [ErrorCode.InvalidConsumerGroupName, "name"],
  [ErrorCode.InvalidTopicSize, "max_topic_size"],
  [ErrorCode.TooManyPartitions, "partitions_count"],
  [ErrorCode.InvalidPartitionsCount, "partitions_count"],
  [ErrorCode.OptionsBlockTooLarge, "options"],
]);
