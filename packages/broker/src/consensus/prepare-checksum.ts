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
  const bytes = new Uint8Array(FIELDS_LENGTH);
  const view = new DataView(bytes.buffer);
  // Client ids fill all 128 bits, so splitting one makes three bigints; clients send many requests in a row.
  let clientWritten = 0n;
  return (fields) => {
    view.setUint32(0, fields.view, true);
    setU64Number(view, 4, fields.op);
    setU128(view, 12, fields.parent);
    if (fields.client !== clientWritten) setU128(view, 28, fields.client);
    clientWritten = fields.client;
    setU64Number(view, 44, fields.session);
    view.setBigUint64(52, fields.request, true);
    view.setUint8(60, fields.operation);
    view.setUint32(61, fields.user, true);
    setU64Number(view, 65, fields.timestamp);
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
