import { ErrorCode, isCodedError } from "@millrace/errors";
import {
  decodeTypedFields,
  encodeTypedFields,
  FieldKind,
  type FieldKindName,
  fieldKindName,
  isWireError,
  type TypedField,
  type TypedFieldPair,
} from "@millrace/framing";
import { USER_HEADERS_LENGTH_MAX } from "@millrace/protocol";
import { errorOfCode } from "../errors/http-error.ts";
import { encodeBase64 } from "../json/base64.ts";
import type { Fields } from "../json/fields.ts";
import { type JsonValue, writeJson } from "../json/write-json.ts";

/**
 * The user headers of a message to send: a list of typed entries, base64 of an encoded block, or nothing.
 *
 * @throws HttpError 422 for another shape; InvalidHeaderValue for bytes that do not suit their kind;
 *         TooBigUserHeaders
 */
export function readUserHeaders(message: Fields, name: string): Uint8Array | undefined {
  if (!message.has(name)) return undefined;
  const bytes = typeof message.raw(name) === "string" ? readBlock(message, name) : readEntries(message, name);
  if (bytes.length <= USER_HEADERS_LENGTH_MAX) return bytes.length === 0 ? undefined : bytes;
  throw errorOfCode(ErrorCode.TooBigUserHeaders, { field: message.pathOf(name) });
}

/** JSON text of stored user headers: a list of entries, or the base64 of a block that is none. */
export function userHeadersText(block: Uint8Array): string {
  if (block.length === 0) return "[]";
  try {
    return writeJson(
      decodeTypedFields(block).map(([key, value]) => ({ key: fieldJson(key), value: fieldJson(value) })),
    );
  } catch (error) {
    if (!isWireError(error)) throw error;
    return writeJson(encodeBase64(block));
  }
}

/** The counterpart of `userHeadersText`: the block as it is stored. */
export function readStoredHeaders(message: Fields, name: string): Uint8Array {
  if (!message.has(name)) return new Uint8Array(0);
  return typeof message.raw(name) === "string"
    ? message.base64(name)
    : encodeTypedFields(readPairs(message, name));
}

function readBlock(message: Fields, name: string): Uint8Array {
  const block = message.base64(name);
  return checked(message.pathOf(name), () => {
    decodeTypedFields(block);
    return block;
  });
}

function readEntries(message: Fields, name: string): Uint8Array {
  const pairs = readPairs(message, name);
  return checked(message.pathOf(name), () => encodeTypedFields(pairs));
}

function readPairs(message: Fields, name: string): TypedFieldPair[] {
  return message
    .objects(name)
    .map((entry) => [readField(entry.object("key")), readField(entry.object("value"))] as const);
}

function readField(fields: Fields): TypedField {
  return { kind: fields.choice("kind", FieldKind), bytes: fields.base64("value") };
}

function fieldJson({ kind, bytes }: TypedField): JsonValue {
  const name: FieldKindName = fieldKindName(kind) ?? "raw";
  return { kind: name, value: encodeBase64(bytes) };
}

function checked(field: string, make: () => Uint8Array): Uint8Array {
  try {
    return make();
  } catch (error) {
    if (!isWireError(error) && !isCodedError(error)) throw error;
    throw errorOfCode(ErrorCode.InvalidHeaderValue, { field, reason: error.message });
  }
}
