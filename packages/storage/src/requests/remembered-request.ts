import { type ByteReader, type ByteWriter, xxh3_64 } from "@millrace/framing";
import type { OpHeader } from "../op-record/op-header.ts";

/**
 * A committed request of a client, as far as it takes to know a repetition and to answer it as before.
 *
 * Offsets, ops and micros are numbers; `number` and `checksum` are u64.
 */
export interface RememberedRequest {
  readonly number: bigint;
  readonly operation: number;
  readonly op: number;
  readonly timestamp: number;
  /** Of a batch, else 0. */
  readonly baseOffset: number;
  readonly count: number;
  /** Bytes of the batch as it was sent; 0 for other operations. */
  readonly length: number;
  /**
   * Of the stamped batch, or of the body of another operation. Nothing for batches of an encrypted directory:
   * it would tell what they hold.
   */
  readonly checksum: bigint | undefined;
}

/** A remembered request and whose it was. */
export interface ClientsRequest {
  readonly client: bigint;
  readonly user: number;
  readonly request: RememberedRequest;
}

/** What an op leaves to be remembered of it and its batch. */
export function rememberedRequest(
  { request: number, operation, op, timestamp }: OpHeader,
  batch: Pick<RememberedRequest, "baseOffset" | "count" | "length" | "checksum">,
): RememberedRequest {
  const { baseOffset, count, length, checksum } = batch;
  return { number, operation, op, timestamp, baseOffset, count, length, checksum };
}

/** The same of an op without a batch. */
export function rememberedOperation(header: OpHeader, body: Uint8Array): RememberedRequest {
  return rememberedRequest(header, { baseOffset: 0, count: 0, length: 0, checksum: bodyChecksum(body) });
}

/** By which bodies of operations without a batch are compared: they are a few bytes. */
export function bodyChecksum(body: Uint8Array): bigint {
  return xxh3_64(body);
}

/** Bytes `writeRequest` writes. */
export const REQUEST_ROW_LENGTH = 69;

/** Writes one row of a checkpoint. A checksum that is not known is written as 0. */
export function writeRequest(writer: ByteWriter, { client, user, request }: ClientsRequest): void {
  writer.u128(client).u32(user).u64(request.number).u8(request.operation);
  writer.u64(request.op).u64(request.timestamp).u64(request.baseOffset);
  writer
    .u32(request.count)
    .u32(request.length)
    .u64(request.checksum ?? 0n);
}

/** Reads what `writeRequest` wrote. @throws WireError when the bytes end before */
export function readRequest(reader: ByteReader): ClientsRequest {
  const client = reader.u128();
  const user = reader.u32();
  const number = reader.u64();
  const operation = reader.u8();
  const [op, timestamp, baseOffset] = [reader.u64Number(), reader.u64Number(), reader.u64Number()];
  const [count, length, checksum] = [reader.u32(), reader.u32(), reader.u64()];
  const known = checksum === 0n ? undefined : checksum;
  return {
    client,
    user,
    request: { number, operation, op, timestamp, baseOffset, count, length, checksum: known },
  };
}
