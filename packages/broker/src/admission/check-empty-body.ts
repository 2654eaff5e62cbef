import { CodedError, ErrorCode } from "@millrace/errors";
import type { ClientRequest } from "../sessions/client-request.ts";

/** Refuses bytes behind the header of a command that has no body. @throws CodedError InvalidCommand */
export function checkEmptyBody(request: Pick<ClientRequest, "body">): void {
  const { length } = request.body;
  if (length === 0) return;
  throw new CodedError(ErrorCode.InvalidCommand, "The command has no body.", { details: { length } });
}
