import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeUtf8 } from "@millrace/framing";
import { NAME_LENGTH_MAX, NAME_LENGTH_MIN } from "@millrace/protocol";

/**
 * Refuses a text whose UTF-8 is outside the bounds, before it is sent. The message does not repeat it.
 * @throws CodedError with `code`
 */
export function checkLength(
  what: string,
  text: string,
  { min, max, code }: { readonly min: number; readonly max: number; readonly code: number },
): void {
  const bytes = typeof text === "string" ? encodeUtf8(text) : undefined;
  if (bytes === undefined) throw new CodedError(code, `${what} is text of UTF-8, of ${min} to ${max} bytes.`);
  const { length } = bytes;
  if (length >= min && length <= max) return;
  throw new CodedError(code, `${what} has ${min} to ${max} bytes; this one has ${length}.`, {
    details: { length, min, max },
  });
}

/** A name to give to something, before it is sent. @throws CodedError with the code of its kind */
export function checkedName(kind: keyof typeof NAME_CODES, name: string): string {
  const bounds = { min: NAME_LENGTH_MIN, max: NAME_LENGTH_MAX, code: NAME_CODES[kind] };
  checkLength(`The name of a ${kind}`, name, bounds);
  return name;
}

const NAME_CODES = {
  stream: ErrorCode.InvalidStreamName,
  topic: ErrorCode.InvalidTopicName,
  "consumer group": ErrorCode.InvalidConsumerGroupName,
} as const;
