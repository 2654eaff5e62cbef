import { decodeUtf8 } from "./utf8-text.ts";
import { u64NumberAt, u128At, viewOf } from "./wide-integer.ts";
import { WireError } from "./wire-error.ts";

/**
 * Reads primitives one after another from borrowed bytes; the only way codecs read a body.
 *
 * Little-endian. Every read is bounded by `end`; positions count from the start of `bytes`. `bytes()`,
 * `bytes8()` and `bytes32()` return views, good as long as the bytes are.
 * @throws WireError `unexpected_end` from every read that would pass `end`
 */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #end: number;
  #position: number;

  constructor(bytes: Uint8Array, position = 0, end: number = bytes.byteLength) {
    if (end > bytes.byteLength || position > end) throw new WireError("unexpected_end", position);
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
    this.#position = position;
    this.#end = end;
  }

  /** Where the next read begins, in bytes from the start of the borrowed bytes. */
  get position(): number {
    return this.#position;
  }

  /** Bytes left before the end. */
  get remaining(): number {
    return this.#end - this.#position;
  }

  u8(): number {
    return this.#view.getUint8(this.#take(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#take(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true);
  }

  /**
   * A u64 that the server made (offset, op, micros) as a number.
   * @throws WireError `bad_value` above 2^53 - 1
   */
  u64Number(): number {
    const at = this.#take(8);
    const value = u64NumberAt(this.#view, at);
    if (value > Number.MAX_SAFE_INTEGER) throw new WireError("bad_value", at);
    return value;
  }

  u128(): bigint {
    return u128At(this.#view, this.#take(16));
  }

  f32(): number {
    return this.#view.getFloat32(this.#take(4), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  /** The next `length` bytes as a view. */
  bytes(length: number): Uint8Array {
    const at = this.#take(length);
    return this.#bytes.subarray(at, at + length);
  }

  /**
   * The next `length` bytes as text.
   * @throws WireError `invalid_utf8` at the first byte of the text
   */
  utf8(length: number): string {
    const at = this.#position;
    const text = decodeUtf8(this.bytes(length));
    if (text === undefined) throw new WireError("invalid_utf8", at);
    return text;
  }

  /**
   * A name: u8 length 1..255, then UTF-8.
   * @throws WireError `empty_name` for length 0, `invalid_utf8`
   */
  name(): string {
    const at = this.#position;
    const length = this.u8();
    if (length === 0) throw new WireError("empty_name", at);
    return this.utf8(length);
  }

  /** u8 length (0 allowed), then that many bytes, as a view. */
  bytes8(): Uint8Array {
    return this.bytes(this.u8());
  }

  /** u32 length, then UTF-8 text. */
  str32(): string {
    return this.utf8(this.u32());
  }

  /** u32 length, then that many bytes, as a view. */
  bytes32(): Uint8Array {
    return this.bytes(this.u32());
  }

  /** Passes over `length` bytes. */
  skip(length: number): void {
    this.#take(length);
  }

  /**
   * Says that nothing may follow.
   * @throws WireError `trailing_bytes` unless everything was read
   */
  finish(): void {
    if (this.#position !== this.#end) throw new WireError("trailing_bytes", this.#position);
  }

  #take(length: number): number {
    const at = this.#position;
    if (length > this.#end - at) throw new WireError("unexpected_end", at);
    this.#position = at + length;
    return at;
  }
}
