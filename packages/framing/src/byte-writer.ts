import { encodeUtf8 } from "./utf8-text.ts";
import { viewOf } from "./wide-integer.ts";
import { WireError } from "./wire-error.ts";

/** Most bodies are small; the writer doubles when they are not. */
const CAPACITY_DEFAULT = 64;
const U8_MAX = 0xff;
const U16_MAX = 0xffff;
const U32_MAX = 0xffff_ffff;
const U64_MASK = 0xffff_ffff_ffff_ffffn;
const U128_MAX = (1n << 128n) - 1n;

/**
 * Writes primitives one after another into bytes of its own; the only way codecs write a body.
 *
 * Little-endian; grows by doubling. `finish()` hands its bytes over, after that the writer must not be used.
 * @throws WireError `bad_value` for a number outside its field, at the position it would have had
 */
export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #length = 0;

  constructor(capacity: number = CAPACITY_DEFAULT) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = viewOf(this.#bytes);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    this.#checkRange(value, U8_MAX);
    const at = this.#grow(1);
    this.#view.setUint8(at, value);
    return this;
  }

  u16(value: number): this {
    this.#checkRange(value, U16_MAX);
    const at = this.#grow(2);
    this.#view.setUint16(at, value, true);
    return this;
  }

  u32(value: number): this {
    this.#checkRange(value, U32_MAX);
    const at = this.#grow(4);
    this.#view.setUint32(at, value, true);
    return this;
  }

  /** A bigint 0..2^64-1 or a whole number 0..2^53-1. */
  u64(value: number | bigint): this {
    if (typeof value === "number") this.#checkRange(value, Number.MAX_SAFE_INTEGER);
    const wide = BigInt(value);
    if (wide < 0n || wide > U64_MASK) throw new WireError("bad_value", this.#length);
    const at = this.#grow(8);
    this.#view.setBigUint64(at, wide, true);
    return this;
  }

  u128(value: bigint): this {
    if (value < 0n || value > U128_MAX) throw new WireError("bad_value", this.#length);
    return this.u64(value & U64_MASK).u64(value >> 64n);
  }

  f32(value: number): this {
    const at = this.#grow(4);
    this.#view.setFloat32(at, value, true);
    return this;
  }

  f64(value: number): this {
    const at = this.#grow(8);
    this.#view.setFloat64(at, value, true);
    return this;
  }

  /** Copies the bytes, without a length in front. */
  bytes(bytes: Uint8Array): this {
    const at = this.#grow(bytes.byteLength);
    this.#bytes.set(bytes, at);
    return this;
  }

  /**
   * The text alone, without a length in front.
   * @throws WireError `invalid_utf8` when the text holds half a surrogate pair
   */
  utf8(text: string): this {
    return this.bytes(this.#encode(text));
  }

  /**
   * A name: u8 length, then UTF-8.
   * @throws WireError `empty_name`, `bad_length` above 255 bytes, `invalid_utf8`
   */
  name(text: string): this {
    const encoded = this.#encode(text);
    if (encoded.byteLength === 0) throw new WireError("empty_name", this.#length);
    return this.bytes8(encoded);
  }

  /**
   * u8 length, then the bytes.
   * @throws WireError `bad_length` above 255 bytes
   */
  bytes8(bytes: Uint8Array): this {
    if (bytes.byteLength > U8_MAX) throw new WireError("bad_length", this.#length);
    return this.u8(bytes.byteLength).bytes(bytes);
  }

  /** u32 length, then UTF-8 text. */
  str32(text: string): this {
    return this.bytes32(this.#encode(text));
  }

  /** u32 length, then the bytes. */
  bytes32(bytes: Uint8Array): this {
    return this.u32(bytes.byteLength).bytes(bytes);
  }

  /** `length` zero bytes. */
  zero(length: number): this {
    const at = this.#grow(length);
    this.#bytes.fill(0, at, at + length);
    return this;
  }

  /**
   * Fills in a u32 that was written before its value was known.
   * @throws WireError `unexpected_end` when those four bytes were not written yet
   */
  setU32(position: number, value: number): void {
    if (position < 0 || position + 4 > this.#length) throw new WireError("unexpected_end", position);
    this.#checkRange(value, U32_MAX);
    this.#view.setUint32(position, value, true);
  }

  /** The bytes written, without a copy. They belong to the caller from here on. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #checkRange(value: number, max: number): void {
    if (!Number.isInteger(value) || value < 0 || value > max) throw new WireError("bad_value", this.#length);
  }

  #encode(text: string): Uint8Array {
    const encoded = encodeUtf8(text);
    if (encoded === undefined) throw new WireError("invalid_utf8", this.#length);
    return encoded;
  }

  /** Makes room and says where it is. Exchanges bytes and view, so it comes before any use of them. */
  #grow(length: number): number {
    const at = this.#length;
    const needed = at + length;
    if (needed > this.#bytes.byteLength) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.byteLength * 2));
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
      this.#view = viewOf(grown);
    }
    this.#length = needed;
    return at;
  }
}
