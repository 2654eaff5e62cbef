import { CodedError, ErrorCode } from "@millrace/errors";
import type { Clock } from "@millrace/platform";
import type { GetSnapshot } from "@millrace/protocol";

/** Makes the bytes of a ZIP file with the parts that are asked for. */
export type CollectSnapshot = (asked: GetSnapshot) => Promise<Uint8Array>;

/** A collection that takes longer has failed: its parts have a few seconds each. */
const COLLECTION_MAX_MS = 30_000;

/** Collects one snapshot at a time, within a time. */
export class SnapshotCollector {
  readonly #collect: CollectSnapshot;
  readonly #clock: Clock;
  #isCollecting = false;

  constructor(collect: CollectSnapshot, clock: Clock) {
    this.#collect = collect;
    this.#clock = clock;
  }

  /**
   * @throws CodedError TransientNotAccepted while another runs, SnapshotFileCompletionFailed after 30 s, or
   *          whatever the collection fails with
   */
  async collect(asked: GetSnapshot): Promise<Uint8Array> {
    if (this.#isCollecting) {
      throw new CodedError(ErrorCode.TransientNotAccepted, "Another snapshot is being collected; try again.");
    }
    this.#isCollecting = true;
    // One that hangs still counts as running: a second would hang beside it.
    const collecting = this.#collect(asked).finally(() => {
      this.#isCollecting = false;
    });
    return within(this.#clock, COLLECTION_MAX_MS, collecting);
  }
}

function within<T>(clock: Clock, limitMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(limitMs, () => {
      const text = `The snapshot took longer than ${limitMs / 1000} s.`;
      reject(new CodedError(ErrorCode.SnapshotFileCompletionFailed, text));
    });
    work.then(resolve, reject).finally(() => timer.cancel());
  });
}
