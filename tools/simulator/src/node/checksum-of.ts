import type { PrepareFields } from "@millrace/vsr";
import type { AppendBody } from "./operation.ts";

/**
 * A checksum of 52 bits over what `PrepareFields` names, quick enough for millions of prepares. It depends on
 * every field, and differs where a run's prepares differ.
 */
export function checksumOf(fields: PrepareFields): bigint {
  const { view, op, parent, client, session, request, operation, user, timestamp, body } = fields;
  const message = (body as AppendBody | undefined)?.message ?? 0;
  const parts = [view, op, parent, client, session, request, operation, user, timestamp, message];
  let [one, other] = [0x811c9dc5, 0x1b873593];
  for (const part of parts) {
    const value = Number(part);
    const [low, high] = [value >>> 0, Math.floor(value / 2 ** 32) >>> 0];
    one = mixed(one ^ low, high);
    other = mixed(other ^ high, low + 0x9e3779b9);
  }
  return BigInt(one & 0xfffff) * 0x1_0000_0000n + BigInt(other >>> 0);
}

function mixed(state: number, value: number): number {
  let next = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  next = Math.imul((next ^ (next >>> 13)) + value, 0xc2b2ae35);
  return (next ^ (next >>> 16)) >>> 0;
}
