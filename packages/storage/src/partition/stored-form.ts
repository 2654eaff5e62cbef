import type { Lease } from "@millrace/framing";
import { SEAL_LENGTH } from "@millrace/platform";
import type { OpHeader } from "../op-record/op-header.ts";
import { type RememberedRequest, rememberedRequest } from "../requests/remembered-request.ts";
import type { BatchBytes } from "./op-entry.ts";

/**
 * What is remembered of a send; in an encrypted directory the checksum of what was sent is kept nowhere.
 * @param storedLength  of the batch in its stored form
 */
export function rememberedSend(
  header: OpHeader,
  { baseOffset, count, checksum }: BatchBytes,
  { isEncrypted, storedLength }: { readonly isEncrypted: boolean; readonly storedLength: number },
): RememberedRequest {
  return isEncrypted
    ? rememberedRequest(header, {
        ...{ baseOffset, count, length: storedLength - SEAL_LENGTH },
        checksum: undefined,
      })
    : rememberedRequest(header, { baseOffset, count, length: storedLength, checksum });
}

/** What is cached is not what is written: the hold goes over to the stored form. */
export function writeInstead(batch: BatchBytes, storedLease: Lease): void {
  storedLease.retain();
  batch.lease.release();
  batch.lease = storedLease;
  batch.position = storedLease.position;
  batch.length = storedLease.length;
}
