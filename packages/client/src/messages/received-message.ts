import { CodedError, ErrorCode } from "@millrace/errors";
import {
  type BatchHeader,
  type FieldValue,
  FRAME_HEADER_LENGTH,
  FrameCursor,
  type TypedFieldPair,
} from "@millrace/framing";
import { decodeHeaderFields, decodeHeaders } from "./message-headers.ts";

/** Places inside a frame's 48-byte header that a message reads when asked. */
const AT = { checksum: 0, id: 8, offsetDelta: 24, timestampDelta: 28, payloadLength: 36 } as const;

const decoder = new TextDecoder("utf-8", { fatal: true });

/**
 * A message as it came from the server. Nothing is decoded before it is asked for; `payload` and raw
 * headers are views of the reply, which stays in memory as long as one of its messages does. Copy a payload
 * to keep it alone.
 */
export class ReceivedMessage {
  readonly #batch: BatchHeader;
  readonly #view: DataView;
  readonly #position: number;
  readonly #length: number;

  /** @param view  the batches of a reply, in which `frame` stands at the frame; it is not kept */
  constructor(batch: BatchHeader, view: DataView, frame: FrameCursor) {
    this.#batch = batch;
    this.#view = view;
    this.#position = frame.framePosition;
    this.#length = frame.frameLength;
  }

  /** The partition it is in, from 0. */
  get partitionId(): number {
    return this.#batch.partitionId;
  }

  /** Place of the message in its partition. */
  get offset(): bigint {
    return BigInt(this.offsetNumber);
  }

  /** The offset as a number; a server refuses to count beyond 2^53. */
  get offsetNumber(): number {
    return this.#batch.baseOffset + this.#view.getUint32(this.#position + AT.offsetDelta, true);
  }

  /** When the server took it, micros since 1970; the same for all messages of a batch. */
  get timestamp(): bigint {
    return BigInt(this.#batch.baseTimestamp);
  }

  /** When the sender made it, micros since 1970. */
  get originTimestamp(): bigint {
    return BigInt(
      this.#batch.originTimestamp + this.#view.getUint32(this.#position + AT.timestampDelta, true),
    );
  }

  /** 128 bits, as its sender chose them; drawn by his client when he did not. */
  get id(): bigint {
    const high = this.#view.getBigUint64(this.#position + AT.id + 8, true);
    return (high << 64n) | this.#view.getBigUint64(this.#position + AT.id, true);
  }

  /** XXH3-64 of the frame, as stored. */
  get checksum(): bigint {
    return this.#view.getBigUint64(this.#position + AT.checksum, true);
  }

  /** A view of the reply, at least one byte; not to be written. */
  get payload(): Uint8Array {
    return this.#bytes(FRAME_HEADER_LENGTH, this.#payloadLength);
  }

  /**
   * The payload as text.
   *
   * @throws CodedError CannotReadMessagePayload when it is not UTF-8; `details` has partition and offset
   */
  text(): string {
    return this.#read("UTF-8", () => decoder.decode(this.payload));
  }

  /**
   * The payload as JSON. Numbers that JavaScript cannot hold are rounded, as `JSON.parse` does.
   *
   * @throws CodedError CannotReadMessagePayload when it is not UTF-8, or no JSON; the cause says where
   */
  json(): unknown {
    const text = this.text();
    return this.#read("JSON", () => JSON.parse(text));
  }

  /**
   * Headers by key, 64- and 128-bit values as bigint; a key that is not text appears as its text form.
   *
   * @throws CodedError CannotReadHeadersPayload when the sender wrote no valid block
   */
  get headers(): ReadonlyMap<string, FieldValue> {
    return decodeHeaders(this.userHeaders, this);
  }

  /** Headers with their kinds, in the order they were written. Throws as `headers`. */
  get headerFields(): readonly TypedFieldPair[] {
    return decodeHeaderFields(this.userHeaders, this);
  }

  /** The block of headers as bytes. */
  get userHeaders(): Uint8Array {
    const start = FRAME_HEADER_LENGTH + this.#payloadLength;
    return this.#bytes(start, this.#length - start);
  }

  #read<T>(what: "UTF-8" | "JSON", read: () => T): T {
    try {
      return read();
    } catch (cause) {
      const { partitionId, offset } = this;
      const message = `The payload of message ${offset} of partition ${partitionId} is not ${what}; payload has its bytes.`;
      const details = { partitionId, offset };
      throw new CodedError(ErrorCode.CannotReadMessagePayload, message, { cause, details });
    }
  }

  get #payloadLength(): number {
    return this.#view.getUint32(this.#position + AT.payloadLength, true);
  }

  #bytes(start: number, length: number): Uint8Array {
    return new Uint8Array(this.#view.buffer, this.#view.byteOffset + this.#position + start, length);
  }
}

/**
 * The messages of a poll reply: batches back to back to the last byte.
 *
 * @throws WireError when a batch or frame does not fit its bytes
 */
export function readMessages(batches: Uint8Array): ReceivedMessage[] {
  const view = new DataView(batches.buffer, batches.byteOffset, batches.byteLength);
  const messages: ReceivedMessage[] = [];
  for (let position = 0; position < batches.length; ) {
    const cursor = new FrameCursor(batches, position);
    while (cursor.next()) messages.push(new ReceivedMessage(cursor.header, view, cursor));
    position += cursor.header.batchLength;
  }
  return messages;
}
