import type { Lease } from "@millrace/framing";
import type { OpHeader } from "../op-record/op-header.ts";
import { type RememberedRequest, rememberedRequest } from "../requests/remembered-request.ts";
import type { KeptBatch } from "../tail-cache/tail-cache.ts";
import type { BatchBytes } from "./op-entry.ts";

/** What is remembered of a send; in an encrypted directory the checksum of what was sent is kept nowhere. */
export function rememberedSend(
  header: OpHeader,
  batch: BatchBytes,
  clearLease: Lease | undefined,
): RememberedRequest {
  const { baseOffset, count, length, checksum } = batch;
  return clearLease === undefined
    ? rememberedRequest(header, { baseOffset, count, length, checksum })
    : rememberedRequest(header, { baseOffset, count, length: clearLease.length, checksum: undefined });
}

/** What is cached is not what is written: the hold goes over to the stored form. */
export function storedInstead(kept: KeptBatch, storedLease: Lease): KeptBatch {
  storedLease.retain();
  kept.lease.release();
  return { lease: storedLease, position: storedLease.position };
}
