import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { HEADER_LENGTH } from "@millrace/framing";
import { directFields } from "../replies/direct-fields.ts";
import type { ClientRequest } from "../sessions/client-request.ts";
import type { Session } from "../sessions/session.ts";
import type { Shard } from "../shard.ts";

/**
 * Carries out one command for a logged-in client and answers the request once, now or later.
 *
 * A `CodedError` thrown before it returns becomes the status of the reply; anything else stops the server.
 */
export type Handler = (shard: Shard, request: ClientRequest, session: Session) => void;

/** A command answered at once from what is in memory: makes the reply's body, nothing for an empty one. */
export type ReadCommand = (shard: Shard, request: ClientRequest, session: Session) => Uint8Array | undefined;

/** Turns a read of the contents of partitions into a handler: they are made exact first. */
export function answeringContents(read: ReadCommand): Handler {
  const answer = answering(read);
  return (shard, request, session) =>
    shard.partitions.freshen(() => refusingErrors(shard, request, () => answer(shard, request, session)));
}

/** Turns a read into a handler. A list longer than a client takes is refused with 20015 (FrameTooLarge). */
export function answering(read: ReadCommand): Handler {
  return (shard, request, session) => {
    const body = read(shard, request, session);
    answerBody(shard, request, body);
  };
}

/** Answers a read. @throws CodedError FrameTooLarge for a body that is longer than a client takes */
export function answerBody(shard: Shard, request: ClientRequest, body: Uint8Array | undefined): void {
  checkReplyLength(shard, body?.length ?? 0);
  checkReplyRoom(request, body?.length ?? 0);
  request.answer(body === undefined ? [] : [body], directFields(shard, request.connection));
}

function checkReplyLength(shard: Shard, length: number): void {
  const lengthMax = shard.config.messageLengthMax - HEADER_LENGTH;
  if (length <= lengthMax) return;
  throw new CodedError(ErrorCode.FrameTooLarge, "The answer is longer than the longest message.", {
    details: { length, lengthMax },
  });
}

/** Refuses a long answer while too much waits to be read. @throws CodedError TransientNotAccepted */
export function checkReplyRoom({ connection }: ClientRequest, length: number): void {
  if (!connection.mayOwe(length)) throw crowded();
}

/** What a long answer is refused with while too much waits to be read. */
export function crowded(): CodedError {
  const text = "Too many replies wait to be read by their clients; try again.";
  return new CodedError(ErrorCode.TransientNotAccepted, text);
}

/** Refuses a request with an error's code; whatever is not a `CodedError` is our own mistake and goes on. */
export function refuseWith(shard: Shard, request: ClientRequest, error: unknown): void {
  if (!isCodedError(error)) throw error;
  refuseWithCode(shard, request, error.code);
}

/**
 * Refuses a request and counts it.
 * @param reason  words behind the header, for a command of ours whose clients read them
 */
export function refuseWithCode(shard: Shard, request: ClientRequest, code: number, reason?: string): void {
  shard.metrics.refusals.add(1);
  const fields = directFields(shard, request.connection);
  if (reason === undefined) request.refuse(code, fields);
  else request.answer([new TextEncoder().encode(reason)], { ...fields, status: code });
}

/**
 * Runs `action` and turns a `CodedError` it throws into the request's answer: for what happens after a
 * handler returned.
 */
export function refusingErrors(shard: Shard, request: ClientRequest, action: () => void): void {
  try {
    action();
  } catch (error) {
    refuseWith(shard, request, error);
  }
}
