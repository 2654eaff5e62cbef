import type { CodedError } from "@millrace/errors";
import { mayPass, type Partition } from "@millrace/storage";
import type { GroupContext } from "./group-context.ts";

/**
 * Looking for space costs a few system calls; once a second is soon enough for people who have made some.
 */
const RESUME_INTERVAL_MS = 1000;

/** Looks now and then whether a full disk has space again, or a process file handles. */
export class SpaceWatch {
  readonly #context: GroupContext;
  #nextMs = 0;

  constructor(context: GroupContext) {
    this.#context = context;
  }

  /** Tries to lift a fault that may have passed, at most once a second, then calls back. */
  look(partition: Partition, fault: CodedError, done: () => void): void {
    const nowMs = this.#context.clock.monotonicMs();
    if (!mayPass(fault) || nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + RESUME_INTERVAL_MS;
    void this.resume(partition, false).then(done);
  }

  /** Tries at once; for a removal, whose record is short, whatever space there is. Settles either way. */
  async resume(partition: Partition, forRemoval: boolean): Promise<void> {
    try {
      await partition.resume(forRemoval);
    } catch (error) {
      this.#context.log.warn("Looking for space failed.", { ...partition.identity, error });
    }
  }
}
