import type { Lease } from "@millrace/framing";
import type { OpHeader } from "../op-record/op-header.ts";
import { type RememberedRequest, rememberedRequest } from "../requests/remembered-request.ts";
import type { BatchBytes } from "./op-entry.ts";

/** What is remembered of a send; in an encrypted directory the checksum of what was sent is kept nowhere. */
export function rememberedSend(
  header: OpHeader,
  batch: BatchBytes,
  clearLease: Lease | undefined,
): RememberedRequest {
  if (clearLease === undefined) return rememberedRequest(header, batch);
  const { baseOffset, count, length } = batch;
  return rememberedRequest(header, { baseOffset, count, length, checksum: undefined });
}

/** What is cached is not what is written: the hold goes over to the stored form. */
export function writeInstead(batch: BatchBytes, storedLease: Lease): void {
  storedLease.retain();
  batch.lease.release();
  batch.lease = storedLease;
  batch.position = storedLease.position;
  batch.length = storedLease.length;
}
