import { CodedError, ErrorCode } from "@millrace/errors";
import type { SessionFailures } from "../../../virtual/session-failures.ts";

/** What sessions throw, as errors with codes; their statuses follow from those. */
export const GRPC_FAILURES: SessionFailures = {
  refused: (code, reason) => new CodedError(code, reason),
  late: (_what, patienceMs) => {
    const text = `No answer within ${patienceMs} ms; what became of it is not known.`;
    return new CodedError(ErrorCode.RequestTimeout, text, { details: { patienceMs } });
  },
  tooManyRequests: () =>
    new CodedError(ErrorCode.TransientNotAccepted, "The session has too many requests under way."),
  tooManyWrites: () => new CodedError(ErrorCode.TransientNotAccepted, "Too many writes are awaited already."),
};
