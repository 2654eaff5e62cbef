import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "@millrace/testkit";
import { LatestRequests, REQUESTS_PER_CLIENT_MAX } from "./latest-requests.ts";
import type { RememberedRequest } from "./remembered-request.ts";

function request(number: bigint, op: number): RememberedRequest {
  return { number, operation: 160, op, timestamp: 1, baseOffset: 0, count: 1, length: 305, checksum: 5n };
}

/** The same by a map alone, whose keys are in the order in which they were added. */
function noteInMap(map: Map<bigint, RememberedRequest>, one: RememberedRequest): void {
  map.delete(one.number);
  map.set(one.number, one);
  const [oldest] = map.keys();
  if (map.size > REQUESTS_PER_CLIENT_MAX && oldest !== undefined) map.delete(oldest);
}

for (const [name, numbers] of [
  ["counts upwards", (random: SeededRandom, at: number) => BigInt(at + (random.below(20) === 0 ? 5 : 0))],
  ["uses few numbers again and again", (random: SeededRandom) => BigInt(random.below(100))],
  ["uses any numbers", (random: SeededRandom) => BigInt(random.below(300)) ** 7n],
] as const) {
  test(`The latest requests of a client that ${name} are found, in the order of their commits.`, () => {
    const random = new SeededRandom(7);
    const [latest, map] = [new LatestRequests(), new Map<bigint, RememberedRequest>()];
    for (let at = 0; at < 2000; at += 1) {
      const one = request(numbers(random, at), at);
      latest.note(one);
      noteInMap(map, one);
      assert.equal(latest.count, map.size);
      const looked = numbers(random, random.below(at + 5));
      assert.equal(latest.find(looked), map.get(looked));
      assert.equal(latest.find(one.number), one);
    }
    assert.deepEqual(latest.all(), [...map.values()]);
  });
}
