import { type ChecksumKernel, setU64Number } from "@millrace/framing";
import type { PrepareFields } from "@millrace/vsr";

const U64 = (1n << 64n) - 1n;

/** Length of what is hashed, see `PrepareFields`. */
const FIELDS_LENGTH = 4 + 8 + 16 + 16 + 8 + 8 + 1 + 4 + 8 + 16;

/**
 * The checksum that chains one prepare to the next: XXH3-64 of its fields, little-endian, in the order that
 * `PrepareFields` states. Batches are covered by their own checksum, which travels as `bodyChecksum`.
 */
export function createPrepareChecksum(kernel: ChecksumKernel): (fields: PrepareFields) => bigint {
  const { view, words } = kernel.memory;
  // Four behind a multiple of eight, so that most large fields lie at one, see `KernelMemory.words`.
  const at = kernel.scratch.position + 4;
  const setU64 = (position: number, value: bigint) => {
    if (words === undefined || position % 8 !== 0) view.setBigUint64(position, value, true);
    else words[position >>> 3] = value;
  };
  /** Most values are 64 bits wide; splitting those would make two bigints more. */
  const setU128 = (position: number, value: bigint) => {
    const isWide = value > U64;
    setU64(position, isWide ? value & U64 : value);
    setU64(position + 8, isWide ? value >> 64n : 0n);
  };
  return (fields) => {
    view.setUint32(at, fields.view, true);
    setU64Number(view, at + 4, fields.op);
    setU128(at + 12, fields.parent);
    setU128(at + 28, fields.client);
    setU64Number(view, at + 44, fields.session);
    setU64(at + 52, fields.request);
    view.setUint8(at + 60, fields.operation);
    view.setUint32(at + 61, fields.user, true);
    setU64Number(view, at + 65, fields.timestamp);
    setU128(at + 73, fields.bodyChecksum);
    return kernel.hash64(at, FIELDS_LENGTH);
  };
}
