import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeTypedFields, isWireError, type TypedField, typedField } from "@millrace/framing";
import {
  type Consumer,
  type Identifier,
  type OptionEntry,
  toIdentifier,
  USER_HEADERS_LENGTH_MAX,
} from "@millrace/protocol";
import type {
  Option,
  Identifier as ProtoIdentifier,
  TypedValue,
  UserHeader,
} from "./millrace-proto.table.ts";

/** A plain consumer that is not named. */
const CONSUMER_DEFAULT = toIdentifier(1);

/** What a message says a command is about. @throws CodedError InvalidIdentifier for what is left out */
export function identifierOf(given: ProtoIdentifier | undefined, field: string): Identifier {
  const value = given?.value;
  if (value?.case !== undefined) return toIdentifier(value.value);
  throw new CodedError(ErrorCode.InvalidIdentifier, `The field ${field} needs an id or a name.`);
}

/** The stream of a request. */
export function streamOf(request: { stream?: ProtoIdentifier | undefined }): { readonly stream: Identifier } {
  return { stream: identifierOf(request.stream, "stream") };
}

/** The stream and topic of a request. */
export function topicOf(request: {
  stream?: ProtoIdentifier | undefined;
  topic?: ProtoIdentifier | undefined;
}): { readonly stream: Identifier; readonly topic: Identifier } {
  return { ...streamOf(request), topic: identifierOf(request.topic, "topic") };
}

/** The partition of a request. */
export function partitionOf(request: Parameters<typeof topicOf>[0] & { readonly partitionId: number }) {
  return { ...topicOf(request), partitionId: request.partitionId };
}

/** The user of a request. */
export function userOf(request: { user?: ProtoIdentifier | undefined }): { readonly user: Identifier } {
  return { user: identifierOf(request.user, "user") };
}

/** The consumer of a request, or the group in its place. @throws CodedError InvalidCommand for both */
export function consumerOf(request: {
  consumer?: ProtoIdentifier | undefined;
  group?: ProtoIdentifier | undefined;
}): Consumer {
  const { consumer, group } = request;
  if (group === undefined) {
    return { kind: "consumer", id: consumer ? identifierOf(consumer, "consumer") : CONSUMER_DEFAULT };
  }
  if (consumer === undefined) return { kind: "group", id: identifierOf(group, "group") };
  throw new CodedError(ErrorCode.InvalidCommand, "A consumer and a group are given; one of them reads.");
}

/** Options of a request, in the order given; a field of its own wins over the same key. */
export function optionsOf(
  options: readonly Option[],
  own: Readonly<Record<string, bigint | undefined>> = {},
): OptionEntry[] {
  const merged = new Map<string, OptionEntry>();
  for (const { key, value } of options) merged.set(key, { key, value: typedValueOf(value) });
  for (const [key, value] of Object.entries(own)) {
    if (value !== undefined) merged.set(key, { key, value: typedField("uint64", value) });
  }
  return [...merged.values()];
}

/**
 * The block of a message's user headers; undefined when there are none.
 * @throws CodedError InvalidHeaderValue for bytes that do not suit their kind; TooBigUserHeaders
 */
export function userHeadersOf(headers: readonly UserHeader[]): Uint8Array | undefined {
  if (headers.length === 0) return undefined;
  const block = encoded(headers);
  if (block.length <= USER_HEADERS_LENGTH_MAX) return block;
  const text = `User headers take ${block.length} bytes; ${USER_HEADERS_LENGTH_MAX} are allowed.`;
  throw new CodedError(ErrorCode.TooBigUserHeaders, text);
}

function encoded(headers: readonly UserHeader[]): Uint8Array {
  try {
    return encodeTypedFields(headers.map(({ key, value }) => [typedValueOf(key), typedValueOf(value)]));
  } catch (error) {
    if (!isWireError(error)) throw error;
    const text = "A user header has a kind or length that cannot be.";
    throw new CodedError(ErrorCode.InvalidHeaderValue, text, { cause: error });
  }
}

/** Kinds have the numbers they have on the wire; what cannot be is refused where it is written. */
function typedValueOf(value: TypedValue | undefined): TypedField {
  return { kind: value?.kind ?? 0, bytes: value?.value ?? new Uint8Array(0) };
}
