import type { SessionFailures } from "../../../virtual/session-failures.ts";
import { errorOfCode, plainError } from "../../errors/http-error.ts";

/** What sessions throw, as answers of the API. @see http-api section 7 */
export const HTTP_FAILURES: SessionFailures = {
  refused: (code, reason) => errorOfCode(code, { reason }),
  late: (what, patienceMs) =>
    plainError(504, `${what}_timeout`, `No answer within ${patienceMs} ms; what became of it is not known.`),
  tooManyRequests: () => plainError(503, "server_busy", "The session has too many requests under way."),
  tooManyWrites: () => plainError(429, "too_many_in_flight_writes", "Too many writes are awaited already."),
};
