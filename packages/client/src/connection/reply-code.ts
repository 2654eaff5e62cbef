import { CodedError, ErrorCode, errorText } from "@millrace/errors";
import type { ReplyHeader } from "@millrace/framing";
import { decodeBody, decodeResultSection, hasResultSection } from "@millrace/protocol";
import { NO_BYTES } from "./call.ts";

/** What a reply says: a code, 0 for success, and the payload behind the result section. */
export interface Outcome {
  readonly code: number;
  readonly payload: Uint8Array;
  /** The server's own words about a code; only the transport HTTP brings them. */
  readonly reason?: string;
}

/**
 * Reads the two places of a reply that can carry a code: the header's status first, then the result
 * section, which the operation of the reply (not of the request) decides about.
 *
 * @throws CodedError InvalidCommand when the body is shorter than the section it announces
 */
export function outcomeOfReply(header: ReplyHeader, body: Uint8Array): Outcome {
  if (header.status !== 0) return refusal(header.status, body);
  if (!hasResultSection(header.operation)) return { code: 0, payload: body };
  return decodeBody(decodeResultSection, body);
}

function refusal(code: number, body: Uint8Array): Outcome {
  if (body.length === 0) return { code, payload: NO_BYTES };
  return { code, payload: NO_BYTES, reason: new TextDecoder().decode(body) };
}

/** What somebody who sees the code can do about it; codes that explain themselves are not listed. */
const ADVICE: ReadonlyMap<number, string> = new Map([
  [ErrorCode.ResourceNotFound, "The stream, topic, partition or consumer it names does not exist."],
  [ErrorCode.Unauthenticated, "Log in first."],
  [ErrorCode.Unauthorized, "The user lacks the permission."],
  [ErrorCode.InvalidCredentials, "The user name or the password is wrong, or the user is inactive."],
  [ErrorCode.InvalidPersonalAccessToken, "The token is unknown or expired; create a new one."],
  [ErrorCode.StreamIdNotFound, "List the streams to see which exist."],
  [ErrorCode.TopicIdNotFound, "List the topics of the stream to see which exist."],
  [ErrorCode.PartitionNotFound, "Partition numbers start at 0; get the topic to see how many it has."],
  [ErrorCode.StreamNameAlreadyExists, "Choose another name or use the stream that is there."],
  [ErrorCode.TopicNameAlreadyExists, "Choose another name or use the topic that is there."],
  [ErrorCode.UnsupportedOptionKey, "Ask describeOptions for the keys this server knows."],
  [ErrorCode.InvalidOptionValue, "Ask describeOptions for the kinds of the values."],
  [ErrorCode.FeatureUnavailable, "This server does not offer the command."],
  [ErrorCode.InvalidOffset, "The offset lies beyond the last message."],
  [ErrorCode.IncompatibleProtocolVersion, "Client and server speak different protocol versions."],
  [
    ErrorCode.PartitionDamaged,
    "Bytes of the partition changed on the server's disk; verifyPartition names file and position. " +
      "What is good can be read from an offset behind the damage.",
  ],
  [
    ErrorCode.MetadataDamaged,
    "The server's catalog is damaged on its disk; its log names file and position.",
  ],
  [ErrorCode.TransientNotAccepted, "The server is busy; try again later."],
  [ErrorCode.TransientNotCommitted, "The outcome is not known yet; look before you repeat it."],
]);

/**
 * The error for a code that a server answered, with its name and what is known about it: the server's words,
 * else advice.
 */
export function errorOfCode(
  code: number,
  details: Record<string, string | number> = {},
  reason?: string,
): CodedError {
  const text = errorText(code).replaceAll("_", " ");
  const advice = isNews(reason, text) ? reason : ADVICE.get(code);
  const message = `The server answered ${code} (${text}).${advice === undefined ? "" : ` ${advice}`}`;
  return new CodedError(code, message, { details });
}

/** Servers without more to tell repeat the name of the code. */
function isNews(reason: string | undefined, text: string): reason is string {
  return reason !== undefined && reason !== "" && reason.toLowerCase() !== text;
}
