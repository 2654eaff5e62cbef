import { SECRET } from "./layout";
import { P32_1, P32_2, P32_3, P64_1, P64_2, P64_3, P64_4, P64_5 } from "./primes.table";

/** Puts the lanes at their start. */
export function startScalar(lanes: usize): void {
  store<u64>(lanes, P32_3);
  store<u64>(lanes, P64_1, 8);
  store<u64>(lanes, P64_2, 16);
  store<u64>(lanes, P64_3, 24);
  store<u64>(lanes, P64_4, 32);
  store<u64>(lanes, P32_2, 40);
  store<u64>(lanes, P64_5, 48);
  store<u64>(lanes, P32_1, 56);
}

/** Takes `stripes` stripes of 64 bytes into the lanes; the secret moves on by 8 bytes a stripe. */
export function accumulateScalar(lanes: usize, at: usize, stripes: usize, secret: usize): void {
  // Pairs of lanes are independent of each other, so each pair goes over all stripes with its sums in
  // registers.
  for (let offset: usize = 0; offset < 64; offset += 16) {
    accumulatePair(lanes + offset, at + offset, stripes, secret + offset);
  }
}

/** Stirs the lanes after a block. */
export function scrambleScalar(lanes: usize): void {
  for (let offset: usize = 0; offset < 64; offset += 8) {
    const sum = load<u64>(lanes + offset);
    store<u64>(lanes + offset, (sum ^ (sum >> 47) ^ load<u64>(SECRET + offset, 128)) * P32_1);
  }
}

function accumulatePair(lanes: usize, at: usize, stripes: usize, secret: usize): void {
  let even = load<u64>(lanes);
  let odd = load<u64>(lanes, 8);
  for (const end = at + (stripes << 6); at < end; at += 64, secret += 8) {
    const evenData = load<u64>(at);
    const oddData = load<u64>(at, 8);
    const evenKeyed = evenData ^ load<u64>(secret);
    const oddKeyed = oddData ^ load<u64>(secret, 8);
    even += oddData + (evenKeyed & 0xffffffff) * (evenKeyed >> 32);
    odd += evenData + (oddKeyed & 0xffffffff) * (oddKeyed >> 32);
  }
  store<u64>(lanes, even);
  store<u64>(lanes, odd, 8);
}
