import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import { errorOfCode, notFound, plainError, wrongShape } from "./http-error.ts";

/** Codes with another status than 400, or a field, as the API lists them. */
const LISTED: readonly (readonly [code: number, status: number, field: string | null])[] = [
  [ErrorCode.Unauthenticated, 401, null],
  [ErrorCode.InvalidPersonalAccessToken, 401, null],
  [ErrorCode.AccessTokenMissing, 401, null],
  [ErrorCode.InvalidAccessToken, 401, null],
  [ErrorCode.Unauthorized, 403, null],
  [ErrorCode.ResourceNotFound, 404, null],
  [ErrorCode.ClientNotFound, 404, "client_id"],
  [ErrorCode.StreamIdNotFound, 404, "stream_id"],
  [ErrorCode.TopicIdNotFound, 404, "topic_id"],
  [ErrorCode.PartitionNotFound, 404, "partition_id"],
  [ErrorCode.ConsumerOffsetNotFound, 404, null],
  [ErrorCode.SegmentNotFound, 404, "segment_id"],
  [ErrorCode.ConsumerGroupIdNotFound, 404, null],
  [ErrorCode.ConsumerGroupNameNotFound, 404, null],
  [ErrorCode.ConsumerGroupMemberNotFound, 404, null],
  [ErrorCode.InvalidClientId, 409, null],
  [ErrorCode.TransientNotCommitted, 503, null],
  [ErrorCode.TransientNotAccepted, 503, null],
  [ErrorCode.CannotEstablishConnection, 503, null],
  [ErrorCode.ShuttingDown, 503, null],
  [ErrorCode.InvalidStreamId, 400, "stream_id"],
  [ErrorCode.InvalidTopicId, 400, "topic_id"],
  [ErrorCode.InvalidOffset, 400, "offset"],
  [ErrorCode.InvalidConsumerGroupId, 400, "consumer_group_id"],
  [ErrorCode.UserAlreadyExists, 400, "username"],
  [ErrorCode.StreamNameAlreadyExists, 400, "name"],
  [ErrorCode.InvalidStreamName, 400, "name"],
  [ErrorCode.TopicNameAlreadyExists, 400, "name"],
  [ErrorCode.InvalidTopicName, 400, "name"],
  [ErrorCode.ConsumerGroupNameAlreadyExists, 400, "name"],
  [ErrorCode.PersonalAccessTokenAlreadyExists, 400, "name"],
  [ErrorCode.InvalidConsumerGroupName, 400, "name"],
  [ErrorCode.InvalidCredentials, 400, null],
  [ErrorCode.FeatureUnavailable, 400, null],
];

test("A code has the status and the field that the API lists for it, and a body that says them.", () => {
  for (const [code, status, field] of LISTED) {
    const error = errorOfCode(code);
    const body = JSON.parse(error.body());
    assert.deepEqual([error.status, body.id, body.field], [status, code, field], body.code);
    assert.match(body.code, /^[a-z_]+$/);
    assert.ok(body.reason.length > 0);
  }
});

test("Of a field no more than 64 characters are repeated, and no half of one.", () => {
  const { field } = wrongShape(`${"x".repeat(63)}🙂🙂`, "wrong");
  assert.equal(field, `${"x".repeat(63)}🙂`);
});

test("Unknown codes are 400; what has no code has its status as id; where it helps, a client may come back.", () => {
  assert.deepEqual([errorOfCode(4_000_000).status, errorOfCode(4_000_000).code], [400, "unknown_error"]);
  assert.deepEqual([notFound().status, notFound().id, notFound().code], [404, 404, "not_found"]);
  assert.equal(plainError(429, "too_many", "Too many.").retryAfterSeconds, 1);
  assert.equal(errorOfCode(ErrorCode.TransientNotAccepted).retryAfterSeconds, 1);
  assert.equal(notFound().retryAfterSeconds, undefined);
});
