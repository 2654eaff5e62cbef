import { InvalidArgumentError } from "commander";

/** The kinds of a header value, as they are typed. */
const HEADER_KINDS = [
  "raw",
  "string",
  "bool",
  "int8",
  "int16",
  "int32",
  "int64",
  "int128",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "uint128",
  "float32",
  "float64",
] as const;

/** One of the kinds of a header value. */
export type HeaderKind = (typeof HEADER_KINDS)[number];

/** A header as typed on the command line: string key, kind, value of that kind. */
export interface HeaderText {
  readonly key: string;
  readonly kind: HeaderKind;
  readonly value: Uint8Array | string | boolean | number | bigint;
}

/** Keys and values are typed fields of at most 255 bytes. */
const PART_BYTES_MAX = 255;

/**
 * Adds the headers of one `key:kind:value[,key:kind:value]` to those given before it.
 *
 * Only the first two colons of a header split it, so values may hold colons; a comma always ends a header.
 * @throws InvalidArgumentError for an unknown kind, a value that is not of its kind, an empty or over-long
 *         part, and a key given twice
 */
export function collectHeaders(text: string, earlier: readonly HeaderText[] = []): readonly HeaderText[] {
  const all = [...earlier, ...text.split(",").map(parseHeader)];
  const twice = all.find(({ key }, index) => all.findIndex((other) => other.key === key) < index);
  if (twice !== undefined) throw new InvalidArgumentError(`Header "${twice.key}" is given twice.`);
  return all;
}

function parseHeader(text: string): HeaderText {
  const [, key, kindText, valueText] = /^([^:]*):([^:]*):(.*)$/s.exec(text) ?? [];
  if (key === undefined || kindText === undefined || valueText === undefined) {
    throw new InvalidArgumentError(`"${text}" must have the form key:kind:value.`);
  }
  const kind = HEADER_KINDS.find((known) => known === kindText.toLowerCase());
  if (kind === undefined) {
    throw new InvalidArgumentError(`"${kindText}" is not a kind; use one of ${HEADER_KINDS.join(" ")}.`);
  }
  requireLength(key);
  return { key, kind, value: parseValue(kind, valueText) };
}

function parseValue(kind: HeaderKind, text: string): HeaderText["value"] {
  if (kind === "string") return requireLength(text);
  if (kind === "raw") return new TextEncoder().encode(requireLength(text));
  if (kind === "bool") return parseBool(text);
  if (kind === "float32" || kind === "float64") return parseFloatText(kind, text);
  const value = parseInteger(kind, text);
  return kind.endsWith("64") || kind.endsWith("128") ? value : Number(value);
}

function requireLength(text: string): string {
  const bytes = Buffer.byteLength(text);
  if (bytes >= 1 && bytes <= PART_BYTES_MAX) return text;
  throw new InvalidArgumentError(`Header keys and values must have 1 to ${PART_BYTES_MAX} bytes.`);
}

function parseBool(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new InvalidArgumentError(`"${text}" is not a bool; use true or false.`);
}

function parseFloatText(kind: HeaderKind, text: string): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const stored = kind === "float32" ? Math.fround(value) : value;
  if (Number.isFinite(stored)) return value;
  throw new InvalidArgumentError(`"${text}" is not a ${kind}.`);
}

function parseInteger(kind: HeaderKind, text: string): bigint {
  const bits = BigInt(/\d+$/.exec(kind)?.[0] ?? 0);
  const signed = kind.startsWith("int");
  const min = signed ? -(1n << (bits - 1n)) : 0n;
  const max = (1n << (signed ? bits - 1n : bits)) - 1n;
  const value = /^-?\d+$/.test(text) ? BigInt(text) : min - 1n;
  if (value >= min && value <= max) return value;
  throw new InvalidArgumentError(`"${text}" is not a ${kind}, which runs from ${min} to ${max}.`);
}
