import { CodedError, ErrorCode } from "@millrace/errors";
import { xxh3_64 } from "@millrace/framing";
import type { Clock } from "@millrace/platform";
import {
  CommandCode,
  decodeBody,
  decodeLoginReply,
  encodeLoginRegister,
  encodeLoginRegisterWithPat,
  nextRequestContext,
  Operation,
  PROTOCOL_VERSION,
} from "@millrace/protocol";
import type { Credentials } from "../client-options.ts";
import { SDK_NAME, SDK_VERSION } from "../sdk-version.ts";
import type { Link } from "./link.ts";
import { errorOfCode, type Outcome } from "./reply-code.ts";

/** Wait before a login that could not commit is sent again. */
const REPEAT_DELAY_MS = 50;

/** Who the server says is logged in, and what the server is. */
export interface LoginFacts {
  readonly userId: number;
  readonly session: bigint;
  readonly serverVersion: string;
}

/** A request outside the queue: during the handshake nothing else is in flight. */
export interface HandshakeRequest {
  readonly operation: number;
  readonly code: number;
  readonly body: Uint8Array;
}

/** Sends one request and awaits its outcome; the payload is a copy. Rejects when the link is lost first. */
export function ask(link: Link, request: HandshakeRequest): Promise<Outcome> {
  const isLogin = request.operation === Operation.Register;
  return new Promise((resolve, reject) => {
    link.transmit({
      operation: request.operation,
      code: request.code,
      // Reads before the first write carry the number that comes next; only Register has number 0.
      number: isLogin ? 0 : 1,
      checksum: isLogin ? xxh3_64(request.body) : 0n,
      body: request.body.length === 0 ? [] : [request.body],
      bodyLength: request.body.length,
      onOutcome: (outcome) => resolve({ ...outcome, payload: outcome.payload.slice() }),
      onLost: reject,
    });
  });
}

/** Resolves after `delayMs`. */
export function sleep(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.setTimer(delayMs, resolve));
}

/** The body of a login: who logs in, and with which client. @param context  what the client says of itself */
export function loginBody(credentials: Credentials, context = ""): Uint8Array {
  const prefix = {
    protocolVersion: PROTOCOL_VERSION,
    sdkName: SDK_NAME,
    sdkVersion: SDK_VERSION,
    context,
  };
  if (credentials.kind === "token")
    return encodeLoginRegisterWithPat({ ...prefix, token: credentials.token });
  return encodeLoginRegister({ ...prefix, username: credentials.username, password: credentials.password });
}

/** How long a step may take on a link, and what it is, for the error. */
export interface Deadline {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** As in "The server did not finish the login". */
  readonly what: "the login" | "its answer about the cluster";
}

/** Runs one step on a link and gives the link up when it takes longer than it may. */
export async function withDeadline<T>(
  link: Link,
  { clock, timeoutMs, what }: Deadline,
  step: () => Promise<T>,
): Promise<T> {
  const timer = clock.setTimer(timeoutMs, () => {
    const message = `The server did not finish ${what} within ${timeoutMs} ms.`;
    link.close(new CodedError(ErrorCode.RequestTimeout, message), true);
  });
  try {
    return await step();
  } finally {
    timer.cancel();
  }
}

/** Who logs in. */
export interface LoginClaim {
  readonly credentials: Credentials;
  /**
   * The next number that the client's queue gives out, where its numbers count. Each login tells it, so that
   * the server looks for no write that was never sent before.
   */
  nextNumber?(): number;
}

/**
 * Registers the link's client id with the server and binds the session to the link. While the server
 * answers that it cannot commit now, the login goes again every 50 ms, until the link is given up.
 *
 * @throws CodedError InvalidCredentials, InvalidPersonalAccessToken, IncompatibleProtocolVersion and what
 *         else the server answers
 */
export async function login(link: Link, clock: Clock, claim: LoginClaim): Promise<LoginFacts> {
  let outcome = await ask(link, registerRequest(claim));
  while (
    outcome.code === ErrorCode.TransientNotCommitted ||
    outcome.code === ErrorCode.TransientNotAccepted
  ) {
    await sleep(clock, REPEAT_DELAY_MS);
    outcome = await ask(link, registerRequest(claim));
  }
  if (outcome.code !== 0) throw errorOfCode(outcome.code, {}, outcome.reason);
  const reply = decodeBody(decodeLoginReply, outcome.payload);
  link.bindSession(BigInt(reply.session));
  return { userId: reply.userId, session: BigInt(reply.session), serverVersion: reply.serverVersion };
}

function registerRequest(claim: LoginClaim): HandshakeRequest {
  const next = claim.nextNumber?.();
  const context = next === undefined ? "" : nextRequestContext(next);
  const body = loginBody(claim.credentials, context);
  return { operation: Operation.Register, code: CommandCode.LoginRegister, body };
}
