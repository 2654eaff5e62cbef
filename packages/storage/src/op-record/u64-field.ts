const HIGH_WORD = 0x1_0000_0000;

/**
 * The little-endian u64 at `position` as a number; exact below 2^53, which is all that storage itself writes.
 */
export function u64At(view: DataView, position: number): number {
  return view.getUint32(position + 4, true) * HIGH_WORD + view.getUint32(position, true);
}

/** Writes a whole number 0..2^53-1 as a little-endian u64. */
export function setU64(view: DataView, position: number, value: number): void {
  view.setUint32(position, value >>> 0, true);
  view.setUint32(position + 4, Math.floor(value / HIGH_WORD), true);
}

/** The little-endian u128 at `position`. */
export function u128At(view: DataView, position: number): bigint {
  const low = view.getBigUint64(position, true);
  const high = view.getBigUint64(position + 8, true);
  return high === 0n ? low : (high << 64n) | low;
}

/**
 * Writes `value` as a little-endian u64.
 * @param words  the bytes of `view` as u64, see `KernelMemory`; `position` is a multiple of 8 then
 */
export function setBigU64(view: DataView, position: number, value: bigint, words?: BigUint64Array): void {
  if (words === undefined) view.setBigUint64(position, value, true);
  else words[position >>> 3] = value;
}

/** The value that was taken apart last, and its halves: the ops of one client follow each other. */
let split = 0n;
let low = 0n;
let high = 0n;

/** Writes the low 128 bits of `value`, little-endian; `words` as for `setBigU64`. */
export function setU128(view: DataView, position: number, value: bigint, words?: BigUint64Array): void {
  if (value !== split) {
    split = value;
    low = BigInt.asUintN(64, value);
    high = BigInt.asUintN(64, value >> 64n);
  }
  setBigU64(view, position, low, words);
  setBigU64(view, position + 8, high, words);
}

/** A view over exactly the bytes of `bytes`. */
export function viewOver(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
