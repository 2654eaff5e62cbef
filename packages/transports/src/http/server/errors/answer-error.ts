import { InvariantError, isCodedError } from "@millrace/errors";
import type { Log } from "@millrace/platform";
import type { FastifyError, FastifyReply } from "fastify";
import { badInput, errorOfCoded, HttpError, plainError } from "../../errors/http-error.ts";
import { afterUnreadBody } from "./unread-body.ts";

const PAYLOAD_TOO_LARGE = 413;

const UNSUPPORTED_TYPE = "Send the body as JSON, with the header content-type: application/json.";

/** Answers with the JSON body of an error, whatever was thrown. */
export function answerError(error: unknown, reply: FastifyReply, log: Log): void {
  const answer = httpErrorOf(error, log);
  reply.code(answer.status).type("application/json; charset=utf-8");
  if (answer.retryAfterSeconds !== undefined) reply.header("retry-after", String(answer.retryAfterSeconds));
  if (answer.status === PAYLOAD_TOO_LARGE) endConnection(reply, () => reply.send(answer.body()));
  else reply.send(answer.body());
}

/** HTTP/2, where requests share a connection, has no such header: only the stream is given up. */
function endConnection(reply: FastifyReply, send: () => void): void {
  const { raw } = reply.request;
  if (raw.httpVersionMajor === 1) {
    reply.header("connection", "close");
    afterUnreadBody(raw, send);
  } else {
    reply.removeHeader("connection");
    send();
  }
}

function httpErrorOf(error: unknown, log: Log): HttpError {
  if (error instanceof HttpError) return error;
  if (isCodedError(error)) return errorOfCoded(error);
  const { code, statusCode, message } = error as FastifyError;
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500)
    return refusalOf(code, statusCode, message);
  if (error instanceof InvariantError) {
    setImmediate(() => {
      throw error;
    });
  }
  log.error("An HTTP request failed for a reason of our own.", {
    error: String(error),
    stack: (error as Error).stack,
  });
  return plainError(500, "internal_error", "The server made a mistake.");
}

/** Requests that the HTTP layer itself refuses before a route sees them. */
function refusalOf(code: string, status: number, message: string): HttpError {
  if (status === PAYLOAD_TOO_LARGE) return plainError(status, "payload_too_large", message);
  if (status === 415) return plainError(status, "unsupported_media_type", UNSUPPORTED_TYPE);
  return code === "FST_ERR_BAD_URL"
    ? badInput("path", message)
    : plainError(status, "invalid_http_request", message);
}
