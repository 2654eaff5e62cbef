import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";

/**
 * The session of a consumer, as another connection of the same program names it: on a connection to the node
 * that leads a partition it polls and commits for that consumer.
 */
export interface ConsumerSession {
  /** Client id, u128. */
  readonly client: bigint;
  readonly session: number;
  /** The node it is shown to must have executed the metadata's ops up to here. */
  readonly metadataWatermark: number;
}

/** Shape: client u128, session u64, metadata watermark u64. The reply has no body. */
export function encodeAttachConsumerSession(session: ConsumerSession): Uint8Array {
  return encodeWith(writeConsumerSession, session);
}

/** The counterpart of `encodeAttachConsumerSession`; throws WireError. */
export function decodeAttachConsumerSession(bytes: Uint8Array): ConsumerSession {
  return decodeWith(readConsumerSession, bytes);
}

/** Client u128, session u64, metadata watermark u64. */
export function writeConsumerSession(writer: ByteWriter, session: ConsumerSession): void {
  writer.u128(session.client).u64(session.session).u64(session.metadataWatermark);
}

/** The counterpart of `writeConsumerSession`; throws WireError. */
export function readConsumerSession(reader: ByteReader): ConsumerSession {
  return { client: reader.u128(), session: reader.u64Number(), metadataWatermark: reader.u64Number() };
}
