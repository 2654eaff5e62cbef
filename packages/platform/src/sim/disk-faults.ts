import { SimRandom } from "./sim-random.ts";

/** One call to the simulated disk, as a fault script sees it before it happens. */
export interface DiskCall {
  readonly kind: "open" | "write" | "read" | "datasync" | "truncate" | "sync-directory" | "rename" | "remove";
  readonly path: string;
  /** Bytes from the start of the file; 0 where it has no meaning. */
  readonly position: number;
  readonly length: number;
  /** Calls before this one since the disk was made, of all kinds. */
  readonly index: number;
}

/**
 * What goes wrong with a call.
 * - `error`: it fails with the system code `errno`; a write first writes `writtenLength` bytes, by default
 * none.
 *   A failed datasync loses trust in what it should have synced: those bytes may be gone after a crash.
 * - `short`: a write takes `writtenLength` bytes in its first round and the rest in a second one.
 * - `flip-bit`: a read delivers one flipped bit, a write stores one; `bit` counts from the call's first byte.
 */
export type DiskFault =
  | { readonly kind: "error"; readonly errno: string; readonly writtenLength?: number }
  | { readonly kind: "short"; readonly writtenLength: number }
  | { readonly kind: "flip-bit"; readonly bit: number };

/** Decides for each call whether something goes wrong. */
export type DiskFaults = (call: DiskCall) => DiskFault | undefined;

/** Chances in [0, 1] of each fault per call; absent means never. */
export interface FaultChances {
  readonly writeError?: number;
  readonly shortWrite?: number;
  readonly readError?: number;
  readonly readFlip?: number;
  readonly datasyncError?: number;
}

/** Faults by chance from a seed: the same seed and the same calls give the same faults. */
export function seededFaults(seed: number, chances: FaultChances): DiskFaults {
  const random = new SimRandom(seed);
  return (call) => {
    if (call.kind === "write") return writeFault(call, random, chances);
    if (call.kind === "read") return readFault(call, random, chances);
    if (call.kind === "datasync" && random.chance(chances.datasyncError ?? 0))
      return { kind: "error", errno: "EIO" };
    return undefined;
  };
}

/** Fails once: the call numbered `count` (from 0) among those that `matches` accepts. */
export function faultAt(count: number, matches: (call: DiskCall) => boolean, fault: DiskFault): DiskFaults {
  let seen = 0;
  return (call) => (matches(call) && seen++ === count ? fault : undefined);
}

function writeFault(call: DiskCall, random: SimRandom, chances: FaultChances): DiskFault | undefined {
  const writtenLength = random.below(Math.max(1, call.length));
  if (random.chance(chances.writeError ?? 0)) return { kind: "error", errno: "EIO", writtenLength };
  if (random.chance(chances.shortWrite ?? 0)) return { kind: "short", writtenLength };
  return undefined;
}

function readFault(call: DiskCall, random: SimRandom, chances: FaultChances): DiskFault | undefined {
  const bit = random.below(Math.max(1, call.length) * 8);
  if (random.chance(chances.readError ?? 0)) return { kind: "error", errno: "EIO" };
  if (random.chance(chances.readFlip ?? 0)) return { kind: "flip-bit", bit };
  return undefined;
}
