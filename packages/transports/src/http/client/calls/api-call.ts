import { CodedError, ErrorCode } from "@millrace/errors";
import type { Consumer, Identifier, OffsetTarget } from "@millrace/protocol";
import type { Fields } from "../../json/fields.ts";
import { type JsonValue, writeJson } from "../../json/write-json.ts";
import type { ApiAnswer } from "../api-answer.ts";
import type { ApiRequest } from "../api-peer.ts";

/** A command in the words of the API, and how its answer becomes the payload of a binary reply. */
export interface ApiCall extends Omit<ApiRequest, "token"> {
  /** Left out for commands that answer nothing. */
  readonly payloadOf?: (answer: ApiAnswer) => Uint8Array;
  /** A read of one thing: when it is not there, the reply is a success without payload. */
  readonly mayBeMissing?: true;
}

/** Makes the call from the body of a binary request. Throws WireError for bytes that are none. */
export type MakeCall = (body: Uint8Array) => ApiCall;

/** A read of one object that is always there. */
export function getOne<T>(
  path: string,
  read: (fields: Fields) => T,
  encode: (value: T) => Uint8Array,
): ApiCall {
  return { method: "GET", path, payloadOf: (answer) => encode(read(answer.fields())) };
}

/** A read of one object that may not be there. */
export function findOne<T>(
  path: string,
  read: (fields: Fields) => T,
  encode: (value: T) => Uint8Array,
): ApiCall {
  return { ...getOne(path, read, encode), mayBeMissing: true };
}

/** A read of a list. */
export function getList<T>(
  path: string,
  read: (fields: Fields) => T,
  encode: (list: readonly T[]) => Uint8Array,
): ApiCall {
  return { method: "GET", path, payloadOf: (answer) => encode(answer.list().map(read)) };
}

/** The making of an object, which the answer shows. */
export function postOne<T>(
  path: string,
  body: JsonValue,
  read: (fields: Fields) => T,
  encode: (value: T) => Uint8Array,
): ApiCall {
  return { ...send("POST", path, body), payloadOf: (answer) => encode(read(answer.fields())) };
}

/** A write whose answer has nothing to tell. */
export function send(method: "POST" | "PUT" | "DELETE", path: string, body?: JsonValue): ApiCall {
  return body === undefined ? { method, path } : { method, path, body: writeJson(body) };
}

/** Path of a stream. */
export function streamPath({ stream }: { readonly stream: Identifier }): string {
  return `/streams/${segment(stream)}`;
}

/** Path of a topic. */
export function topicPath(target: { readonly stream: Identifier; readonly topic: Identifier }): string {
  return `${streamPath(target)}/topics/${segment(target.topic)}`;
}

/**
 * An identifier as part of a path or as value of a query.
 * @throws CodedError InvalidIdentifier for a name of digits only: the API takes it for a number
 */
export function segment(identifier: Identifier): string {
  if (identifier.kind === "numeric") return String(identifier.id);
  if (!/^\d+$/.test(identifier.name)) return encodeURIComponent(identifier.name);
  const message =
    "Over HTTP a name of digits only is taken for an id: name it by its id, or use another transport.";
  throw new CodedError(ErrorCode.InvalidIdentifier, message);
}

/** Path behind a `?`; the values are encoded already. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | bigint>>): string {
  return `${path}?${Object.entries(query)
    .map((pair) => pair.join("="))
    .join("&")}`;
}

/** The consumer and partition of an offset, as the API names them. @throws CodedError FeatureUnavailable */
export function consumerOf({ consumer, partitionId = 0 }: OffsetTarget) {
  return { consumer_id: consumerId(consumer), partition_id: partitionId };
}

function consumerId({ kind, id }: Consumer): string {
  if (kind === "consumer") return segment(id);
  const message =
    "Over HTTP every consumer is a plain one, none is a group: use the transport tcp, ws or grpc.";
  throw new CodedError(ErrorCode.FeatureUnavailable, message);
}
