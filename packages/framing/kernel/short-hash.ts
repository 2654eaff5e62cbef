import { SECRET } from "./layout";
import { avalanche, avalancheShort, fold } from "./mixing";
import { MIX_2, P64_1 } from "./primes.table";

/** XXH3-64 of 0..16 bytes. */
export function hashUpTo16(at: usize, length: usize): u64 {
  if (length > 8) return hash9To16(at, length);
  if (length > 3) return hash4To8(at, length);
  if (length > 0) return hash1To3(at, length);
  return avalancheShort(load<u64>(SECRET, 56) ^ load<u64>(SECRET, 64));
}

/** XXH3-64 of 17..128 bytes. */
export function hash17To128(at: usize, length: usize): u64 {
  let sum: u64 = (length as u64) * P64_1;
  const end = at + length;
  if (length > 96) sum += mix(at + 48, SECRET + 96) + mix(end - 64, SECRET + 112);
  if (length > 64) sum += mix(at + 32, SECRET + 64) + mix(end - 48, SECRET + 80);
  if (length > 32) sum += mix(at + 16, SECRET + 32) + mix(end - 32, SECRET + 48);
  return avalanche(sum + mix(at, SECRET) + mix(end - 16, SECRET + 16));
}

/** XXH3-64 of 129..240 bytes. */
export function hash129To240(at: usize, length: usize): u64 {
  let sum: u64 = (length as u64) * P64_1;
  for (let offset: usize = 0; offset < 128; offset += 16) sum += mix(at + offset, SECRET + offset);
  sum = avalanche(sum);
  const rounded = length & ~15;
  for (let offset: usize = 128; offset < rounded; offset += 16)
    sum += mix(at + offset, SECRET + offset - 125);
  return avalanche(sum + mix(at + length - 16, SECRET + 119));
}

function hash1To3(at: usize, length: usize): u64 {
  const first = load<u8>(at) as u32;
  const middle = load<u8>(at + (length >> 1)) as u32;
  const last = load<u8>(at + length - 1) as u32;
  const combined = (first << 16) | (middle << 24) | last | ((length as u32) << 8);
  return avalancheShort((combined ^ load<u32>(SECRET) ^ load<u32>(SECRET, 4)) as u64);
}

function hash4To8(at: usize, length: usize): u64 {
  const first = load<u32>(at) as u64;
  const last = load<u32>(at + length - 4) as u64;
  let hash = (last | (first << 32)) ^ load<u64>(SECRET, 8) ^ load<u64>(SECRET, 16);
  hash ^= rotl<u64>(hash, 49) ^ rotl<u64>(hash, 24);
  hash *= MIX_2;
  hash ^= (hash >> 35) + (length as u64);
  hash *= MIX_2;
  return hash ^ (hash >> 28);
}

function hash9To16(at: usize, length: usize): u64 {
  const low = load<u64>(at) ^ load<u64>(SECRET, 24) ^ load<u64>(SECRET, 32);
  const high = load<u64>(at + length - 8) ^ load<u64>(SECRET, 40) ^ load<u64>(SECRET, 48);
  return avalanche((length as u64) + bswap<u64>(low) + high + fold(low, high));
}

function mix(at: usize, secret: usize): u64 {
  return fold(load<u64>(at) ^ load<u64>(secret), load<u64>(at, 8) ^ load<u64>(secret, 8));
}
