import type { DiskCall, DiskFault, DiskFaults, SimDisk } from "@millrace/platform/sim";
import type { SeededRandom } from "@millrace/testkit";

/** Calls of one kind within which a planned fault strikes. */
const SOON = 24;
/** A disk that is nearly full leaves this much. */
const LITTLE_ROOM = 4096;
/** Files whose bits are changed are at most this long. */
const FILE_LENGTH_MAX = 1 << 24;

interface Plan {
  readonly kind: DiskCall["kind"];
  readonly fault: (call: DiskCall) => DiskFault;
  /** Calls of the kind still to go before it strikes. */
  wait: number;
}

/** Faults of one process's disk: planned by chance, struck once each, and told. */
export class DiskTrouble {
  readonly #plans: Plan[] = [];
  readonly #struck: string[] = [];
  #isFull = false;
  #hasWrongReads = false;

  /** Faults that struck, in words. */
  get struck(): readonly string[] {
    return this.#struck;
  }

  /** True when a refusal by the disk's codes has its reason. */
  get isTroubled(): boolean {
    return this.#isFull || this.#struck.length > 0;
  }

  /** True when a read brought a wrong bit. */
  get hasWrongReads(): boolean {
    return this.#hasWrongReads;
  }

  /** The script for `SimDisk.setFaults`. */
  readonly faults: DiskFaults = (call) => {
    const plan = this.#plans.find(({ kind, wait }) => kind === call.kind && wait === 0);
    for (const one of this.#plans) if (one.kind === call.kind) one.wait -= 1;
    if (plan === undefined) return undefined;
    const fault = plan.fault(call);
    this.#struck.push(`${call.kind} of ${call.path}: ${fault.kind === "error" ? fault.errno : fault.kind}`);
    this.#hasWrongReads ||= call.kind === "read" && fault.kind === "flip-bit";
    return fault;
  };

  /** Plans one more fault. */
  plan(random: SeededRandom): void {
    const plan = planOf(random);
    this.#plans.push({ ...plan, wait: random.below(SOON) });
  }

  /** Leaves next to no room, until `makeRoom`. */
  fill(disk: SimDisk): void {
    this.#isFull = true;
    this.#struck.push("the disk is full");
    disk.setSpace(LITTLE_ROOM);
  }

  makeRoom(disk: SimDisk): void {
    disk.setSpace(Number.POSITIVE_INFINITY);
  }
}

const FAILING = ["open", "truncate", "sync-directory", "rename", "remove"] as const;

function planOf(random: SeededRandom): Omit<Plan, "wait"> {
  const part = random.fraction();
  const error = (errno: string) => (call: DiskCall) =>
    ({ kind: "error", errno, writtenLength: Math.floor(call.length * part) }) as const;
  const dice = random.below(16);
  if (dice < 4) return { kind: "write", fault: error("EIO") };
  if (dice < 6) return { kind: "write", fault: error("ENOSPC") };
  if (dice < 8) {
    const short = (call: DiskCall) =>
      ({ kind: "short", writtenLength: Math.floor(call.length * part) }) as const;
    return { kind: "write", fault: short };
  }
  if (dice < 11) return { kind: "datasync", fault: error("EIO") };
  if (dice < 12) return { kind: "read", fault: error("EIO") };
  if (dice < 13) {
    const flip = (call: DiskCall) => ({ kind: "flip-bit", bit: Math.floor(call.length * 8 * part) }) as const;
    return { kind: "read", fault: flip };
  }
  const kind = random.pick(FAILING);
  return { kind, fault: error(kind === "open" && random.below(2) === 0 ? "EMFILE" : "EIO") };
}

/** A bit that was changed where it lay. */
export interface FlippedBit {
  readonly path: string;
  readonly bit: number;
}

/** Changes one bit of a file that has one; nothing when the file is empty or too long. */
export async function flipSomeBit(
  disk: SimDisk,
  path: string,
  random: SeededRandom,
): Promise<FlippedBit | undefined> {
  const length = (await disk.stat(path))?.length ?? 0;
  if (length === 0 || length > FILE_LENGTH_MAX) return undefined;
  const bit = random.below(length * 8);
  disk.flipBit(path, bit);
  return { path, bit };
}

/** Every file below a folder, by path. */
export async function filesBelow(disk: SimDisk, folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name, kind } of await disk.readDirectory(folder)) {
    const path = folder === "" ? name : `${folder}/${name}`;
    if (kind === "directory") found.push(...(await filesBelow(disk, path)));
    else found.push(path);
  }
  return found;
}
