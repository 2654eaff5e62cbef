import { InvalidArgumentError } from "commander";

/** Largest u32: ids, counts and partitions travel in four bytes. */
export const U32_MAX = 0xffff_ffff;
/** Largest u64: offsets and times travel in eight bytes; as a duration or size it means "no limit". */
export const U64_MAX = 0xffff_ffff_ffff_ffffn;

/**
 * A parser of whole numbers between two bounds, for commander's arguments and options.
 * @throws InvalidArgumentError when the text is not digits or outside the bounds
 */
export function wholeNumber(bounds: { min: number; max: number }): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= bounds.min && value <= bounds.max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${bounds.min} to ${bounds.max}.`);
  };
}

/**
 * A u64 such as an offset.
 * @throws InvalidArgumentError when the text is not digits or above 2^64-1
 */
export function parseU64(text: string): bigint {
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : U64_MAX + 1n;
  if (value <= U64_MAX) return value;
  throw new InvalidArgumentError("It must be a whole number from 0 to 18446744073709551615.");
}

/** A u32, from 0. */
export const parseU32 = wholeNumber({ min: 0, max: U32_MAX });

/** A count of at least 1. */
export const parseCount = wholeNumber({ min: 1, max: U32_MAX });

/** Partitions or segments in one request; the server refuses more than 1000 at once. */
export const parseBatchCount = wholeNumber({ min: 1, max: 1000 });

/**
 * `true` or `false`, as an option that takes a value.
 * @throws InvalidArgumentError for any other word
 */
export function parseBoolean(text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  throw new InvalidArgumentError("It must be true or false.");
}
