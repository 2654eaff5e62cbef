import { FieldKind, type FieldValue, fieldValue, type TypedField } from "@millrace/framing";
import { parseByteSize, parseDuration } from "@millrace/protocol";

/** Never, or unlimited: the largest u64. */
export const UNLIMITED = (1n << 64n) - 1n;

/** What an accepted field means in the option's own kind; undefined when the option does not accept it. */
export type ParseValue = (field: TypedField) => FieldValue | undefined;

/** Whole bytes an option may stand for; 0 always stands for the default. */
export interface ByteBounds {
  readonly min?: bigint;
  readonly max?: bigint;
  readonly multipleOf?: bigint;
  /** True when `unlimited`, `none`, `server_default` and `default` are words of this option. */
  readonly words?: boolean;
}

/** A word of `choices`, or its 1-based code as uint8 where the option has codes. */
export function choice(choices: readonly string[], codes = false): ParseValue {
  return (field) => {
    const value = fieldValue(field);
    if (field.kind === FieldKind.string) return choices.find((word) => word === value);
    return codes && field.kind === FieldKind.uint8 ? choices[Number(value) - 1] : undefined;
  };
}

/** A boolean, or the word `true` or `false`. */
export const flag: ParseValue = (field) => {
  const value = fieldValue(field);
  if (field.kind === FieldKind.bool) return value;
  if (field.kind !== FieldKind.string) return undefined;
  return value === "true" ? true : value === "false" ? false : undefined;
};

/** Whole number from `min` to `max`, as any integer kind or in decimal digits. */
export function count(min: bigint, max: bigint): ParseValue {
  return (field) => {
    const value = integerOf(field, (text) => (/^\d+$/.test(text) ? BigInt(text) : undefined));
    return value !== undefined && value >= min && value <= max ? value : undefined;
  };
}

/** Microseconds as any integer kind, a text with units, or a word for never or for the default. */
export const expiry: ParseValue = (field) => integerOf(field, (text) => wordOf(text) ?? parseDuration(text));

/** Bytes as any integer kind or as text; 0 passes every bound. */
export function bytes(bounds: ByteBounds): ParseValue {
  const { min = 0n, max = UNLIMITED, multipleOf = 1n, words = false } = bounds;
  const parse = (text: string) => (words ? wordOf(text) : undefined) ?? parseByteSize(text);
  return (field) => {
    const value = integerOf(field, parse);
    if (value === undefined || value === 0n) return value;
    return value >= min && value <= max && value % multipleOf === 0n ? value : undefined;
  };
}

/** Words are ours to match in any case; `0` needs no unit. */
function wordOf(text: string): bigint | undefined {
  switch (text.trim().toLowerCase()) {
    case "none":
    case "unlimited":
    case "never_expire":
      return UNLIMITED;
    case "default":
    case "server_default":
    case "0":
      return 0n;
    default:
      return undefined;
  }
}

/**
 * The field's whole number within u64, or what `parseText` makes of its text. Floats, bools and raw bytes:
 * none.
 */
function integerOf(field: TypedField, parseText: (text: string) => bigint | undefined): bigint | undefined {
  const value = fieldValue(field);
  if (field.kind === FieldKind.string) return parseText(String(value));
  const isInteger = field.kind >= FieldKind.int8 && field.kind <= FieldKind.uint128;
  if (!isInteger || (typeof value !== "number" && typeof value !== "bigint")) return undefined;
  const wide = BigInt(value);
  return wide >= 0n && wide <= UNLIMITED ? wide : undefined;
}
