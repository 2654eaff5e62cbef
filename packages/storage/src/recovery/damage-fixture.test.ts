import assert from "node:assert/strict";
import { ErrorCode, isCodedError } from "@millrace/errors";
import type { Bench, Seen } from "../partition/partition-fixture.test.ts";

/** An error of a damaged partition that names the file. */
export function isDamage(error: unknown): boolean {
  return isCodedError(error, ErrorCode.PartitionDamaged) && typeof error.details["path"] === "string";
}

/** Offsets whose read answers damage, each read alone; every other one must be answered right. */
export async function lostOffsets(bench: Bench, all: readonly Seen[]): Promise<number[]> {
  const lost: number[] = [];
  for (const message of all) {
    try {
      assert.deepEqual(await bench.read(message.offset, 1), [message]);
    } catch (error) {
      if (!isDamage(error)) throw error;
      lost.push(message.offset);
    }
  }
  return lost;
}
