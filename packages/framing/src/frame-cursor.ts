import { BATCH_AT, BATCH_HEADER_LENGTH, type BatchHeader, decodeBatchHeader } from "./batch-header.ts";
import { FRAME_AT, FRAME_HEADER_LENGTH, frameLengthAt } from "./frame-header.ts";
import { u128At } from "./wide-integer.ts";
import { WireError } from "./wire-error.ts";

/**
 * Walks over the frames of one batch in borrowed bytes; allocates nothing per frame.
 *
 * Fields of the current frame may be read after `next()` returned true. `payload` and `userHeaders` are
 * views; `id` and `checksum` make a bigint when asked. Checksums are not verified: that is
 * `ChecksumKernel.verifyBatch`. Positions, those of errors too, count from the start of `bytes`.
 *
 * ```ts
 * const cursor = new FrameCursor(bytes);
 * while (cursor.next()) console.log(cursor.header.baseOffset + cursor.offsetDelta, cursor.payload);
 * ```
 * @throws WireError from the constructor as `decodeBatchHeader`, and `unexpected_end` when `bytes` end before
 *                   the batch does
 */
export class FrameCursor {
  readonly header: BatchHeader;
  readonly #bytes: Uint8Array;
  /** From the start of the bytes to the end of the batch. */
  readonly #view: DataView;
  readonly #start: number;
  #framesRead = 0;
  #framePosition: number;
  #frameLength = BATCH_HEADER_LENGTH;

  constructor(bytes: Uint8Array, position = 0) {
    this.header = decodeBatchHeader(bytes, position);
    const end = position + this.header.batchLength;
    if (end > bytes.byteLength) throw new WireError("unexpected_end", position + BATCH_AT.batchLength);
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, end);
    this.#start = position;
    this.#framePosition = position;
  }

  /**
   * Goes to the next frame; false after the last one.
   * @throws WireError as `frameLengthAt`; `bad_value` at the header's count when the batch ends before or
   *                    after that many frames
   */
  next(): boolean {
    const position = this.#framePosition + this.#frameLength;
    const atEnd = position === this.#view.byteLength;
    if (atEnd !== (this.#framesRead === this.header.messageCount)) {
      throw new WireError("bad_value", this.#start + BATCH_AT.messageCount);
    }
    if (atEnd) return false;
    this.#frameLength = frameLengthAt(this.#view, position);
    this.#framePosition = position;
    this.#framesRead++;
    return true;
  }

  /** First byte of the frame. */
  get framePosition(): number {
    return this.#framePosition;
  }

  /** Header, payload and user headers. */
  get frameLength(): number {
    return this.#frameLength;
  }

  /** Added to the batch's `baseOffset` it gives the message's offset. */
  get offsetDelta(): number {
    return this.#view.getUint32(this.#framePosition + FRAME_AT.offsetDelta, true);
  }

  /** Added to the batch's `originTimestamp` it gives the message's origin time, micros. */
  get timestampDelta(): number {
    return this.#view.getUint32(this.#framePosition + FRAME_AT.timestampDelta, true);
  }

  get checksum(): bigint {
    return this.#view.getBigUint64(this.#framePosition + FRAME_AT.checksum, true);
  }

  get id(): bigint {
    return u128At(this.#view, this.#framePosition + FRAME_AT.id);
  }

  get payload(): Uint8Array {
    const start = this.#framePosition + FRAME_HEADER_LENGTH;
    return this.#bytes.subarray(start, start + this.#payloadLength);
  }

  get userHeaders(): Uint8Array {
    const start = this.#framePosition + FRAME_HEADER_LENGTH + this.#payloadLength;
    return this.#bytes.subarray(start, this.#framePosition + this.#frameLength);
  }

  get #payloadLength(): number {
    return this.#view.getUint32(this.#framePosition + FRAME_AT.payloadLength, true);
  }
}
