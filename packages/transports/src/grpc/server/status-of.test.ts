import assert from "node:assert/strict";
import { test } from "node:test";
import { status } from "@grpc/grpc-js";
import { CodedError, ErrorCode } from "@millrace/errors";
import { errorMetadata, statusOf } from "./status-of.ts";

test("each kind of error has the status that says it, and the metadata the exact code", () => {
  for (const [code, expected] of [
    [ErrorCode.TooManyConnections, status.RESOURCE_EXHAUSTED],
    [ErrorCode.UserInactive, status.UNAUTHENTICATED],
    [ErrorCode.InvalidCredentials, status.UNAUTHENTICATED],
    [ErrorCode.Unauthorized, status.PERMISSION_DENIED],
    [ErrorCode.StreamIdNotFound, status.NOT_FOUND],
    [ErrorCode.TopicNameAlreadyExists, status.ALREADY_EXISTS],
    [ErrorCode.InvalidCommand, status.INVALID_ARGUMENT],
    [ErrorCode.FrameTooLarge, status.INVALID_ARGUMENT],
    [ErrorCode.FeatureUnavailable, status.UNIMPLEMENTED],
    [ErrorCode.TransientNotAccepted, status.UNAVAILABLE],
    [ErrorCode.RequestTimeout, status.DEADLINE_EXCEEDED],
    [ErrorCode.AccessTokenMissing, status.UNAUTHENTICATED],
    [ErrorCode.ShuttingDown, status.UNAVAILABLE],
    [ErrorCode.NoPartitions, status.FAILED_PRECONDITION],
    [ErrorCode.ConsumerGroupPartitionNotOwned, status.FAILED_PRECONDITION],
    [ErrorCode.UnsupportedOptionKey, status.INVALID_ARGUMENT],
    [ErrorCode.PartitionDamaged, status.DATA_LOSS],
    [ErrorCode.IoError, status.INTERNAL],
  ] as const) {
    const error = new CodedError(code);
    assert.equal(statusOf(error), expected, String(code));
    assert.deepEqual(errorMetadata(error).get("millrace-code"), [String(code)]);
  }
});
