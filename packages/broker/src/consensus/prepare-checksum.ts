import type { ChecksumKernel } from "@millrace/framing";
import type { PrepareFields } from "@millrace/vsr";

const U64 = (1n << 64n) - 1n;

/** Length of what is hashed, see `PrepareFields`. */
const FIELDS_LENGTH = 4 + 8 + 16 + 16 + 8 + 8 + 1 + 4 + 8 + 16;

/**
 * The checksum that chains one prepare to the next: XXH3-64 of its fields, little-endian, in the order that
 * `PrepareFields` states. Batches are covered by their own checksum, which travels as `bodyChecksum`.
 */
export function createPrepareChecksum(kernel: ChecksumKernel): (fields: PrepareFields) => bigint {
  const bytes = new Uint8Array(FIELDS_LENGTH);
  const view = new DataView(bytes.buffer);
  return (fields) => {
    view.setUint32(0, fields.view, true);
    view.setBigUint64(4, BigInt(fields.op), true);
    setU128(view, 12, fields.parent);
    setU128(view, 28, fields.client);
    view.setBigUint64(44, BigInt(fields.session), true);
    view.setBigUint64(52, fields.request, true);
    view.setUint8(60, fields.operation);
    view.setUint32(61, fields.user, true);
    view.setBigUint64(65, BigInt(fields.timestamp), true);
    setU128(view, 73, fields.bodyChecksum);
    return kernel.hashBytes(bytes);
  };
}

/** Most values are 64 bits wide; splitting those would make two bigints more. */
function setU128(view: DataView, position: number, value: bigint): void {
  if (value <= U64) {
    view.setBigUint64(position, value, true);
    view.setBigUint64(position + 8, 0n, true);
    return;
  }
  view.setBigUint64(position, value & U64, true);
  view.setBigUint64(position + 8, value >> 64n, true);
}
