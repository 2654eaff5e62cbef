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
 * @throws CodedError TransientNotAccepted of a node that cannot check who asks, see `saysWhyNobody`;
 *         InvalidCredentials and the like; Unauthenticated, InvalidCommand or FeatureUnavailable of servers
 *         that do not tell
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
  if (outcome.code === ErrorCode.TransientNotAccepted) throw cannotTell(address, outcome.reason);
  if (outcome.code !== 0) throw errorOfCode(outcome.code, {}, outcome.reason);
  return decodeBody(decode, outcome.payload);
}

/** The error of a node that answers and cannot check who asks. @param reason  its own words, if any */
function cannotTell(address: ServerAddress, reason: string | undefined): CodedError {
  const node = `The node ${formatServerAddress(address)} answers`;
  if (reason === undefined) {
    const why = "too many logins wait there, or its cluster elects who leads it";
    const message = `${node}, and cannot check now who asks: ${why}.`;
    return new CodedError(ErrorCode.TransientNotAccepted, message, {
      details: { next: "Try again in a moment." },
    });
  }
  const message = `${node}, and can log nobody in. ${reason} The log of the node names those it does not reach.`;
  const next = "Start the other nodes, and look into the log of this one.";
  return new CodedError(ErrorCode.TransientNotAccepted, message, { details: { reason, next } });
}

/**
 * Whether a node said for want of which nodes it logs nobody in: those that were not started, or that it does
 * not reach. One that is busy, or in an election, puts off without a word, and that passes.
 */
export function saysWhyNobody(error: unknown): error is CodedError {
  return isCodedError(error, ErrorCode.TransientNotAccepted) && error.details["reason"] !== undefined;
}
