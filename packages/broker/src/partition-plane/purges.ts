import type { PartitionOp } from "./partition-op.ts";

/**
 * Purges of one partition since the start that were submitted and that came to their end. What was read
 * before
 * the end of one may be gone behind it, so no offset of it is stored then.
 */
export class Purges {
  begun = 0;
  ended = 0;

  /** True from the submit of a purge to its end: an offset that is stored now would outlive its messages. */
  get isUnderWay(): boolean {
    return this.begun > this.ended;
  }

  /** A purge that is counted from now to its end. */
  counted(op: PartitionOp): PartitionOp {
    this.begun += 1;
    const end = () => {
      this.ended += 1;
    };
    return {
      ...op,
      committed(result) {
        end();
        op.committed(result);
      },
      failed(code) {
        end();
        op.failed(code);
      },
    };
  }
}
