import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { HEADER_LENGTH } from "@millrace/framing";
import { decodeBody, decodeGetSnapshot, type GetSnapshot } from "@millrace/protocol";
import { checkPermission } from "../../admission/check-permission.ts";
import { directFields } from "../../replies/direct-fields.ts";
import type { ClientRequest } from "../../sessions/client-request.ts";
import type { Shard } from "../../shard.ts";
import { checkReplyRoom, type Handler, refuseWith, refusingErrors } from "../handler.ts";

/**
 * A ZIP file with facts for diagnostics, collected beside everything else: nothing here waits for it but its
 * own answer. One collection at a time; while it runs, another is answered with 58 and may be tried again.
 *
 * Errors: InvalidCommand for bytes that are none, InvalidFormat for no parts or `all` beside others,
 * FeatureUnavailable where nobody collects or a compression is not built, SnapshotFileCompletionFailed for
 * one that fails, takes too long or fits no message.
 * @see server-semantics section 13
 */
export const getSnapshot: Handler = (shard, request, session) => {
  const asked = decodeBody(decodeGetSnapshot, request.body);
  checkParts(asked);
  checkPermission(shard, session, "read-server");
  if (shard.snapshots === undefined) throw new CodedError(ErrorCode.FeatureUnavailable);
  shard.snapshots.collect(asked).then(
    (zip) => {
      if (HEADER_LENGTH + zip.length > shard.config.messageLengthMax)
        refuseWith(shard, request, tooLong(zip));
      else refusingErrors(shard, request, () => answer(shard, request, zip));
    },
    (error: unknown) => refuseWith(shard, request, failed(shard, error)),
  );
};

function answer(shard: Shard, request: ClientRequest, zip: Uint8Array): void {
  checkReplyRoom(request, zip.length);
  request.answer([zip], directFields(shard, request.connection));
}

function checkParts({ types }: GetSnapshot): void {
  if (types.length === 0)
    throw new CodedError(ErrorCode.InvalidFormat, "A snapshot of no parts is asked for.");
  if (!types.includes("all") || types.length === 1) return;
  throw new CodedError(
    ErrorCode.InvalidFormat,
    "The part `all` stands for every part and is asked for alone.",
  );
}

function tooLong(zip: Uint8Array): CodedError {
  return new CodedError(
    ErrorCode.SnapshotFileCompletionFailed,
    "The snapshot is longer than a message may be.",
    {
      details: { length: zip.length },
    },
  );
}

function failed(shard: Shard, cause: unknown): CodedError {
  if (isCodedError(cause)) return cause;
  shard.platform.log.error("A snapshot could not be collected.", { error: cause });
  return new CodedError(ErrorCode.SnapshotFileCompletionFailed, "The snapshot failed.", { cause });
}
