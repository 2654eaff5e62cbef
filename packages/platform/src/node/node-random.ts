import { randomBytes } from "node:crypto";
import type { Random } from "../clock.ts";

const FRACTION_STEPS = 2 ** 32;

/** Chance from the operating system, good enough for keys, salts and tokens. */
export const nodeRandom: Random = {
  bytes: (length) => new Uint8Array(randomBytes(length)),
  fraction: () => randomBytes(4).readUInt32LE(0) / FRACTION_STEPS,
};
