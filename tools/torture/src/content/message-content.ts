import { crc32 } from "node:zlib";
import type { ReceivedMessage } from "@millrace/client";
import { SeededRandom } from "@millrace/testkit";
import type { SeenMessage } from "../oracle/topic-history.ts";

/** Longest payload in bytes; short ones are as frequent as long ones on a logarithmic scale. */
const PAYLOAD_LENGTH_MAX = 4096;
/** Random bytes that payloads are cut from; many times the longest payload. */
const POOL_LENGTH = 1_048_576;
/** Payloads this long begin with their number, so that equal cuts differ. */
const NUMBERED_LENGTH_MIN = 8;
const FRAME_HEADER_LENGTH = 48;

/** A well-mixed u32 of a number and a salt (the finalizer of MurmurHash3). */
function mixed(number: number, salt: number): number {
  let hash = (number ^ Math.imul(salt, 0x9e3779b1)) >>> 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Messages as a pure function of the run's seed and the message's number, so that what was sent needs no
 * memory.
 *
 * Shape of an id, 128 bits: run (32), CRC-32 of the payload (32), number (64).
 */
export class MessageContent {
  readonly #run: number;
  readonly #pool: Uint8Array;

  /** @param seed  32 bits */
  constructor(seed: number) {
    this.#run = seed >>> 0;
    this.#pool = new SeededRandom(seed).bytes(POOL_LENGTH);
  }

  /** Payload of message `number`: 1 to 4096 bytes, a buffer of its own. */
  payload(number: number): Uint8Array {
    const length = this.#payloadLength(number);
    const start = mixed(number, this.#run + 2) % (POOL_LENGTH - PAYLOAD_LENGTH_MAX);
    const payload = this.#pool.slice(start, start + length);
    if (length >= NUMBERED_LENGTH_MIN) new DataView(payload.buffer).setFloat64(0, number, true);
    return payload;
  }

  /** Messages `first` to `first + count - 1`, ready to send. */
  messages(first: number, count: number): { readonly id: bigint; readonly payload: Uint8Array }[] {
    return Array.from({ length: count }, (_, index) => {
      const payload = this.payload(first + index);
      return { id: this.#id(first + index, payload), payload };
    });
  }

  /** Bytes these messages take in a batch, without its header. */
  framesLength(first: number, count: number): number {
    let length = count * FRAME_HEADER_LENGTH;
    for (let index = 0; index < count; index += 1) length += this.#payloadLength(first + index);
    return length;
  }

  /** What a received message is: its number, and whether every byte is as sent. */
  judge(message: Pick<ReceivedMessage, "id" | "offsetNumber" | "payload">): SeenMessage {
    const { id } = message;
    const isOurs = Number(id >> 96n) === this.#run;
    const number = isOurs ? Number(id & 0xffff_ffff_ffff_ffffn) : undefined;
    return {
      offset: message.offsetNumber,
      number,
      isIntact: number !== undefined && this.#isIntact(id, number, message.payload),
    };
  }

  #isIntact(id: bigint, number: number, payload: Uint8Array): boolean {
    const sent = this.payload(number);
    return id === this.#id(number, sent) && Buffer.compare(payload, sent) === 0;
  }

  #id(number: number, payload: Uint8Array): bigint {
    return (BigInt(this.#run) << 96n) | (BigInt(crc32(payload)) << 64n) | BigInt(number);
  }

  #payloadLength(number: number): number {
    return Math.floor(PAYLOAD_LENGTH_MAX ** (mixed(number, this.#run + 1) / 4_294_967_295));
  }
}
