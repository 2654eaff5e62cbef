import type { CodedError } from "@millrace/errors";
import { diskError } from "../disk-error.ts";
import type { DiskCall, DiskFault, DiskFaults } from "./disk-faults.ts";

/** What a simulated disk may be given. */
export interface SimDiskOptions {
  /** Decides what a crash keeps; default 1. */
  readonly seed?: number;
  /**
   * Runs a completion later; default a microtask. A simulator gives its clock's timer with a latency here.
   */
  readonly schedule?: (completion: () => void) => void;
  readonly faults?: DiskFaults;
  /** Room for the content of all files together, in bytes; default without limit. */
  readonly spaceLength?: number;
  /** Starts of the machine before this one; default 0. */
  readonly machineRun?: number;
}

/** A write on its way: the power may fail while it is. */
export interface WriteInFlight {
  /** Stores the first `length` of the write's bytes. */
  store(length: number): void;
  readonly length: number;
}

/**
 * What the files of one simulated disk share: when calls complete, what goes wrong, how much room is left.
 */
export class SimDevice {
  readonly schedule: (completion: () => void) => void;
  readonly inFlight = new Set<WriteInFlight>();
  faults: DiskFaults | undefined;
  spaceLength: number;
  /** False once the process that uses this device was killed or the power failed: nothing works any more. */
  alive = true;
  #calls = 0;

  constructor(options: SimDiskOptions) {
    this.schedule = options.schedule ?? queueMicrotask;
    this.faults = options.faults;
    this.spaceLength = options.spaceLength ?? Number.POSITIVE_INFINITY;
  }

  faultOf(call: Omit<DiskCall, "index">): DiskFault | undefined {
    const index = this.#calls++;
    if (!this.alive) return { kind: "error", errno: "ESHUTDOWN" };
    return this.faults?.({ ...call, index });
  }

  /** The error for a call on a device whose process is gone. */
  deadError(operation: string, path: string): CodedError | undefined {
    return this.alive ? undefined : diskError({ operation, path, errno: "ESHUTDOWN" });
  }

  /** Does `action` later, unless a fault or the end of the process comes first. */
  async perform<T>(call: Pick<DiskCall, "kind" | "path">, action: () => T): Promise<T> {
    const fault = this.faultOf({ ...call, position: 0, length: 0 });
    await new Promise<void>((resolve) => this.schedule(resolve));
    const { kind: operation, path } = call;
    if (fault?.kind === "error") throw diskError({ operation, path, errno: fault.errno });
    const dead = this.deadError(operation, path);
    if (dead !== undefined) throw dead;
    return action();
  }
}
