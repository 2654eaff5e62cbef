import { Metadata, status } from "@grpc/grpc-js";
import { type CodedError, ErrorCode, errorName } from "@millrace/errors";

/** Codes whose names do not say which status they are. */
const OWN_STATUS: ReadonlyMap<number, status> = new Map([
  [ErrorCode.InvalidCredentials, status.UNAUTHENTICATED],
  [ErrorCode.InvalidPersonalAccessToken, status.UNAUTHENTICATED],
  [ErrorCode.PersonalAccessTokenExpired, status.UNAUTHENTICATED],
  [ErrorCode.Unauthenticated, status.UNAUTHENTICATED],
  [ErrorCode.UserInactive, status.UNAUTHENTICATED],
  [ErrorCode.AccessTokenMissing, status.UNAUTHENTICATED],
  [ErrorCode.InvalidAccessToken, status.UNAUTHENTICATED],
  [ErrorCode.Unauthorized, status.PERMISSION_DENIED],
  [ErrorCode.FeatureUnavailable, status.UNIMPLEMENTED],
  [ErrorCode.TransientNotAccepted, status.UNAVAILABLE],
  [ErrorCode.TransientNotCommitted, status.UNAVAILABLE],
  [ErrorCode.Disconnected, status.UNAVAILABLE],
  [ErrorCode.StaleClient, status.UNAVAILABLE],
  [ErrorCode.ShuttingDown, status.UNAVAILABLE],
  [ErrorCode.CannotDeleteUser, status.FAILED_PRECONDITION],
  [ErrorCode.CannotChangePermissions, status.FAILED_PRECONDITION],
  [ErrorCode.NoPartitions, status.FAILED_PRECONDITION],
  [ErrorCode.ConsumerGroupPartitionNotOwned, status.FAILED_PRECONDITION],
  [ErrorCode.IncompatibleProtocolVersion, status.FAILED_PRECONDITION],
  [ErrorCode.UnsupportedOptionKey, status.INVALID_ARGUMENT],
  [ErrorCode.MemoryExhausted, status.RESOURCE_EXHAUSTED],
  [ErrorCode.PartitionDamaged, status.DATA_LOSS],
  [ErrorCode.RequestTimeout, status.DEADLINE_EXCEEDED],
  [ErrorCode.Aborted, status.ABORTED],
]);

/** What the names of the others tell. */
const BY_NAME: readonly (readonly [pattern: RegExp, status: status])[] = [
  [/NotFound$/, status.NOT_FOUND],
  [/AlreadyExists$/, status.ALREADY_EXISTS],
  [/^TooMany|LimitReached$|Full$/, status.RESOURCE_EXHAUSTED],
  [/^Invalid|^TooBig|^TooSmall|TooLarge$|^Empty/, status.INVALID_ARGUMENT],
];

/** The gRPC status that says what an error of ours says; INTERNAL where none fits. */
export function statusOf({ code }: CodedError): status {
  const own = OWN_STATUS.get(code);
  if (own !== undefined) return own;
  const name = errorName(code);
  return BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? status.INTERNAL;
}

/** Trailing metadata with the exact code, for clients that know it. */
export function errorMetadata({ code }: CodedError): Metadata {
  const metadata = new Metadata();
  metadata.set("millrace-code", String(code));
  metadata.set("millrace-error", errorName(code));
  return metadata;
}
