import { encodeUtf8 } from "./utf8-text.ts";
import { WireError } from "./wire-error.ts";

/** Most bodies are small; the writer doubles when they are not. */
const CAPACITY_DEFAULT = 64;
const U8_MAX = 0xff;
const U16_MAX = 0xffff;
const U32_MAX = 0xffff_ffff;
const TWO_32 = 4_294_967_296;
const U64_MASK = 0xffff_ffff_ffff_ffffn;
const U128_MAX = (1n << 128n) - 1n;

/** Takes the values that are not put together from bytes; used within one call. */
const scratch = new Uint8Array(8);
const scratchView = new DataView(scratch.buffer);

/**
 * Writes primitives one after another into bytes of its own; the only way codecs write a body.
 *
 * Little-endian; grows by doubling. `finish()` hands its bytes over, after that the writer must not be used
 * but from `restart()` on.
 * @throws WireError `bad_value` for a number outside its field, at the position it would have had
 */
export class ByteWriter {
  /** Without a view over it: one would move a small array out of the heap, which costs more than all else. */
  #bytes: Uint8Array;
  #length = 0;

  constructor(capacity: number = CAPACITY_DEFAULT) {
    this.#bytes = new Uint8Array(capacity);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length;
  }

  u8(value: number): this {
    this.#checkRange(value, U8_MAX);
    const at = this.#grow(1);
    this.#bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    this.#checkRange(value, U16_MAX);
    const at = this.#grow(2);
    this.#bytes[at] = value;
    this.#bytes[at + 1] = value >>> 8;
    return this;
  }

  u32(value: number): this {
    this.#checkRange(value, U32_MAX);
    this.#putU32(this.#grow(4), value);
    return this;
  }

  /** A bigint 0..2^64-1 or a whole number 0..2^53-1. */
  u64(value: number | bigint): this {
    if (typeof value === "bigint") return this.#u64Bigint(value);
    this.#checkRange(value, Number.MAX_SAFE_INTEGER);
    const at = this.#grow(8);
    this.#putU32(at, value % TWO_32);
    this.#putU32(at + 4, Math.floor(value / TWO_32));
    return this;
  }

  u128(value: bigint): this {
    if (value < 0n || value > U128_MAX) throw new WireError("bad_value", this.#length);
    return this.u64(value & U64_MASK).u64(value >> 64n);
  }

  f32(value: number): this {
    scratchView.setFloat32(0, value, true);
    return this.bytes(scratch.subarray(0, 4));
  }

  f64(value: number): this {
    scratchView.setFloat64(0, value, true);
    return this.bytes(scratch);
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
    this.#putU32(position, value);
  }

  /** The bytes written, without a copy. They belong to the caller from here on. */
  finish(): Uint8Array {
    return this.#length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.#length);
  }

  /** Begins anew in the same memory: what `finish` handed over before is overwritten. */
  restart(): this {
    this.#length = 0;
    return this;
  }

  #u64Bigint(value: bigint): this {
    if (value < 0n || value > U64_MASK) throw new WireError("bad_value", this.#length);
    scratchView.setBigUint64(0, value, true);
    return this.bytes(scratch);
  }

  #putU32(at: number, value: number): void {
    this.#bytes[at] = value;
    this.#bytes[at + 1] = value >>> 8;
    this.#bytes[at + 2] = value >>> 16;
    this.#bytes[at + 3] = value >>> 24;
  }

  #checkRange(value: number, max: number): void {
    if (!Number.isInteger(value) || value < 0 || value > max) throw new WireError("bad_value", this.#length);
  }

  #encode(text: string): Uint8Array {
    const encoded = encodeUtf8(text);
    if (encoded === undefined) throw new WireError("invalid_utf8", this.#length);
    return encoded;
  }

  /** Makes room and says where it is. Exchanges the bytes, so it comes before any use of them. */
  #grow(length: number): number {
    const at = this.#length;
    const needed = at + length;
    if (needed > this.#bytes.byteLength) {
      const grown = new Uint8Array(Math.max(needed, this.#bytes.byteLength * 2));
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
    }
    this.#length = needed;
    return at;
  }
}
