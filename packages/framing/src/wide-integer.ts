import { assert } from "@millrace/errors";

const TWO_32 = 4_294_967_296;
const U64_MASK = 0xffff_ffff_ffff_ffffn;
const U128_MAX = (1n << 128n) - 1n;

/**
 * The u64 at `position` as a number, without bigint.
 *
 * Exact up to 2^53 - 1. A larger value comes back rounded, but still larger than 2^53 - 1, so one comparison
 * with `Number.MAX_SAFE_INTEGER` finds it.
 */
export function u64NumberAt(view: DataView, position: number): number {
  return view.getUint32(position + 4, true) * TWO_32 + view.getUint32(position, true);
}

/** Writes a whole number 0..2^53-1 as u64. Other numbers are a mistake of the caller. */
export function setU64Number(view: DataView, position: number, value: number): void {
  assert(
    Number.isSafeInteger(value) && value >= 0,
    "a u64 written from a number is a whole number below 2^53",
  );
  // The remainder of a division of doubles is a call of the C library.
  view.setUint32(position, value >>> 0, true);
  view.setUint32(position + 4, Math.floor(value / TWO_32), true);
}

/** Writes a bigint 0..2^64-1 as u64. Other values are a mistake of the caller. */
export function setU64(view: DataView, position: number, value: bigint): void {
  assert(value >= 0n && value <= U64_MASK, "a u64 is 0..2^64-1");
  view.setBigUint64(position, value, true);
}

/** The u128 at `position`, little-endian. */
export function u128At(view: DataView, position: number): bigint {
  return (view.getBigUint64(position + 8, true) << 64n) | view.getBigUint64(position, true);
}

/** Writes a bigint 0..2^128-1 as u128. Other values are a mistake of the caller. */
export function setU128(view: DataView, position: number, value: bigint): void {
  assert(value >= 0n && value <= U128_MAX, "a u128 is 0..2^128-1");
  view.setBigUint64(position, value & U64_MASK, true);
  view.setBigUint64(position + 8, value >> 64n, true);
}

/** A view over the bytes of `bytes`. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
