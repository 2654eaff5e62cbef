import { viewOf } from "../wide-integer.ts";
import { XXH3_SECRET } from "./xxh3-secret.table.ts";

const P32_1 = 0x9e3779b1n;
const P32_2 = 0x85ebca77n;
const P32_3 = 0xc2b2ae3dn;
const P64_1 = 0x9e3779b185ebca87n;
const P64_2 = 0xc2b2ae3d27d4eb4fn;
const P64_3 = 0x165667b19e3779f9n;
const P64_4 = 0x85ebca77c2b2ae63n;
const P64_5 = 0x27d4eb2f165667c5n;
const MIX_1 = 0x165667919e3779f9n;
const MIX_2 = 0x9fb21c651e98df25n;
const MASK_32 = 0xffff_ffffn;

const STRIPE_LENGTH = 64;
const BLOCK_LENGTH = 1024;
const SECRET_STEP = 8;
/** Where in the secret stand: the words that scramble, the last stripe's, the merge's, and two odd ends. */
const SECRET_AT = { scramble: 128, lastStripe: 121, merge: 11, midSecondHalf: 3, midLast: 119 } as const;

const secret = viewOf(XXH3_SECRET);

/**
 * XXH3-64 with the default secret and seed 0, in plain TypeScript.
 *
 * The oracle for the WebAssembly kernel and the last resort where there is no WebAssembly: it computes with
 * bigint, some hundred times slower than the kernel. Any length; the bytes are only read.
 * @see the xxHash specification, section XXH3 algorithm overview
 */
export function xxh3_64(bytes: Uint8Array): bigint {
  const input = viewOf(bytes);
  const length = bytes.byteLength;
  if (length === 0) return avalancheShort(u64(secret, 56) ^ u64(secret, 64));
  if (length <= 3) return hash1To3(input, length);
  if (length <= 8) return hash4To8(input, length);
  if (length <= 16) return hash9To16(input, length);
  if (length <= 128) return hash17To128(input, length);
  if (length <= 240) return hash129To240(input, length);
  return hashLong(input, length);
}

function hash1To3(input: DataView, length: number): bigint {
  const first = input.getUint8(0);
  const middle = input.getUint8(length >> 1);
  const last = input.getUint8(length - 1);
  const combined = ((first << 16) | (middle << 24) | last | (length << 8)) >>> 0;
  return avalancheShort(
    BigInt(combined) ^ BigInt((secret.getUint32(0, true) ^ secret.getUint32(4, true)) >>> 0),
  );
}

function hash4To8(input: DataView, length: number): bigint {
  const first = BigInt(input.getUint32(0, true));
  const last = BigInt(input.getUint32(length - 4, true));
  let hash = (last + (first << 32n)) ^ u64(secret, 8) ^ u64(secret, 16);
  hash ^= rotateLeft(hash, 49n) ^ rotateLeft(hash, 24n);
  hash = wrap(hash * MIX_2);
  hash ^= wrap((hash >> 35n) + BigInt(length));
  hash = wrap(hash * MIX_2);
  return hash ^ (hash >> 28n);
}

function hash9To16(input: DataView, length: number): bigint {
  const low = u64(input, 0) ^ u64(secret, 24) ^ u64(secret, 32);
  const high = u64(input, length - 8) ^ u64(secret, 40) ^ u64(secret, 48);
  return avalanche(wrap(BigInt(length) + swapBytes(low) + high + fold(low, high)));
}

function hash17To128(input: DataView, length: number): bigint {
  let sum = BigInt(length) * P64_1;
  for (let pair = (length - 1) >> 5; pair >= 0; pair--) {
    sum += mix(input, pair * 16, pair * 32) + mix(input, length - 16 * (pair + 1), pair * 32 + 16);
  }
  return avalanche(wrap(sum));
}

function hash129To240(input: DataView, length: number): bigint {
  const rounds = length >> 4;
  let sum = BigInt(length) * P64_1;
  for (let round = 0; round < 8; round++) sum += mix(input, round * 16, round * 16);
  sum = avalanche(wrap(sum));
  for (let round = 8; round < rounds; round++) {
    sum += mix(input, round * 16, (round - 8) * 16 + SECRET_AT.midSecondHalf);
  }
  return avalanche(wrap(sum + mix(input, length - 16, SECRET_AT.midLast)));
}

function hashLong(input: DataView, length: number): bigint {
  const lanes = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1];
  const stripesPerBlock = BLOCK_LENGTH / STRIPE_LENGTH;
  const stripes = Math.floor((length - 1) / STRIPE_LENGTH);
  for (let stripe = 0; stripe < stripes; stripe++) {
    const inBlock = stripe % stripesPerBlock;
    accumulate(lanes, input, stripe * STRIPE_LENGTH, inBlock * SECRET_STEP);
    if (inBlock === stripesPerBlock - 1) scramble(lanes);
  }
  accumulate(lanes, input, length - STRIPE_LENGTH, SECRET_AT.lastStripe);

  let sum = BigInt(length) * P64_1;
  for (let lane = 0; lane < 8; lane += 2) {
    const at = SECRET_AT.merge + lane * 8;
    sum += fold(laneOf(lanes, lane) ^ u64(secret, at), laneOf(lanes, lane + 1) ^ u64(secret, at + 8));
  }
  return avalanche(wrap(sum));
}

function accumulate(lanes: bigint[], input: DataView, at: number, secretAt: number): void {
  for (let lane = 0; lane < 8; lane++) {
    const value = u64(input, at + lane * 8);
    const keyed = value ^ u64(secret, secretAt + lane * 8);
    lanes[lane ^ 1] = wrap(laneOf(lanes, lane ^ 1) + value);
    lanes[lane] = wrap(laneOf(lanes, lane) + (keyed & MASK_32) * (keyed >> 32n));
  }
}

function scramble(lanes: bigint[]): void {
  for (let lane = 0; lane < 8; lane++) {
    const value = laneOf(lanes, lane);
    lanes[lane] = wrap((value ^ (value >> 47n) ^ u64(secret, SECRET_AT.scramble + lane * 8)) * P32_1);
  }
}

function mix(input: DataView, at: number, secretAt: number): bigint {
  return fold(u64(input, at) ^ u64(secret, secretAt), u64(input, at + 8) ^ u64(secret, secretAt + 8));
}

/** The 128-bit product, its halves xored. */
function fold(left: bigint, right: bigint): bigint {
  const product = left * right;
  return wrap(product) ^ (product >> 64n);
}

function avalanche(hash: bigint): bigint {
  const mixed = wrap((hash ^ (hash >> 37n)) * MIX_1);
  return mixed ^ (mixed >> 32n);
}

function avalancheShort(hash: bigint): bigint {
  let mixed = wrap((hash ^ (hash >> 33n)) * P64_2);
  mixed = wrap((mixed ^ (mixed >> 29n)) * P64_3);
  return mixed ^ (mixed >> 32n);
}

function rotateLeft(value: bigint, bits: bigint): bigint {
  return wrap(value << bits) | (value >> (64n - bits));
}

function swapBytes(value: bigint): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, value, true);
  return view.getBigUint64(0, false);
}

function wrap(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function u64(view: DataView, at: number): bigint {
  return view.getBigUint64(at, true);
}

function laneOf(lanes: readonly bigint[], lane: number): bigint {
  return lanes[lane] ?? 0n;
}
