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
  const { view } = kernel.memory;
  const at = kernel.scratch.position;
  return (fields) => {
    view.setUint32(at, fields.view, true);
    setU64Number(view, at + 4, fields.op);
    setU128(view, at + 12, fields.parent);
    setU128(view, at + 28, fields.client);
    setU64Number(view, at + 44, fields.session);
    view.setBigUint64(at + 52, fields.request, true);
    view.setUint8(at + 60, fields.operation);
    view.setUint32(at + 61, fields.user, true);
    setU64Number(view, at + 65, fields.timestamp);
    setU128(view, at + 73, fields.bodyChecksum);
    return kernel.hash64(at, FIELDS_LENGTH);
  };
}

/** Most values are 64 bits wide; splitting those would make two bigints more. */
function setU128(view: DataView, position: number, value: bigint): void {
  if (value <= U64) {
    view.setBigUint64(position, value, true);
    view.setFloat64(position + 8, 0);
    return;
  }
  view.setBigUint64(position, value & U64, true);
  view.setBigUint64(position + 8, value >> 64n, true);
}
