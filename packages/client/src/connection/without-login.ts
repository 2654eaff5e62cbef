import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import {
  CommandCode,
  type CommandName,
  decodeBody,
  encodeReadWithoutLogin,
  Operation,
} from "@millrace/protocol";
import type { Credentials } from "../client-options.ts";
import { formatServerAddress, type ServerAddress } from "../server-address.ts";
import type { Link } from "./link.ts";
import { ask, loginBody } from "./login.ts";
import { errorOfCode } from "./reply-code.ts";

/** A read about the cluster, for somebody who is not logged in. */
export interface ReadAsked<T> {
  readonly command: CommandName;
  readonly body: Uint8Array;
  readonly decode: (payload: Uint8Array) => T;
}

/**
 * Asks a node what it knows of its cluster; the link needs no login.
 *
 * @throws CodedError TransientNotAccepted of a node that its cluster has not taken in; InvalidCredentials and
 *         the like; Unauthenticated, InvalidCommand or FeatureUnavailable of servers that do not tell
 */
export async function readWithoutLogin<T>(
  link: Link,
  { credentials, address }: { readonly credentials: Credentials; readonly address: ServerAddress },
  { command, body, decode }: ReadAsked<T>,
): Promise<T> {
  const asked = encodeReadWithoutLogin({ login: loginBody(credentials), code: CommandCode[command], body });
  const outcome = await ask(link, {
    ...{ operation: Operation.NonReplicated, code: CommandCode.ReadWithoutLogin, body: asked },
  });
  if (outcome.code === ErrorCode.TransientNotAccepted) throw notTakenIn(address, outcome.reason);
  if (outcome.code !== 0) throw errorOfCode(outcome.code, {}, outcome.reason);
  return decodeBody(decode, outcome.payload);
}

/** What a node is told to be that answers and knows nobody who could log in. @param reason  its own words */
export function notTakenIn(address: ServerAddress, reason?: string): CodedError {
  const why =
    reason ??
    "A new cluster begins once all of its nodes have been started; a node that was away is taken in by a majority " +
      "of them.";
  const message =
    `The node ${formatServerAddress(address)} answers, and knows no users yet: its cluster has not taken it in. ` +
    `${why} The log of the node names those it does not reach.`;
  const next = "Start the other nodes, and look into the log of this one.";
  return new CodedError(ErrorCode.TransientNotAccepted, message, { details: { next } });
}

/** True for what a node says that its cluster has not taken in, see `notTakenIn`. */
export function isNotTakenIn(error: unknown): error is CodedError {
  return isCodedError(error, ErrorCode.TransientNotAccepted);
}
