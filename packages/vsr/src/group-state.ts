import { assert } from "@millrace/errors";
import type { ClientTable } from "./client-table/client-table.ts";
import type { Output } from "./output.ts";
import { Pipeline } from "./pipeline.ts";
import type { PrepareFields } from "./prepare.ts";
import { type Quorums, quorums } from "./quorums.ts";
import type { ReplicaOptions } from "./replica-options.ts";

/** What a replica is doing. */
export type ReplicaStatus = "normal" | "view-change" | "recovering";

/** What a step that changes nothing answers; one array, so that it costs nothing. */
export const NO_OUTPUTS: readonly Output[] = Object.freeze([]);

/**
 * Everything one replica knows about its group. The phases in `normal/` read and change it; nobody else does.
 */
export class GroupState {
  readonly replica: number;
  readonly replicaCount: number;
  readonly quorums: Quorums;
  readonly clientTable: ClientTable | undefined;
  readonly checksumOf: (fields: PrepareFields) => bigint;
  readonly pipeline: Pipeline;
  status: "normal" = "normal";
  view: number;
  /** Highest op this replica has numbered or accepted. */
  op: number;
  /** Highest op this replica has committed. */
  commit: number;
  /** Highest op any primary of this view is known to have committed; above `commit` while ops are missing. */
  commitKnown: number;
  /** Checksum of `op`. */
  lastChecksum: bigint;
  /** Ticks since the start, for what a primary repeats. */
  ticks = 0;

  constructor(options: ReplicaOptions) {
    const { recovered } = options;
    this.replica = options.replica;
    this.replicaCount = options.replicaCount;
    this.quorums = quorums(options.replicaCount);
    this.clientTable = options.clientTable;
    this.checksumOf = options.checksumOf;
    assert(
      options.replicaCount === 1 || recovered.op === recovered.commit,
      "a replica that recovers an uncommitted suffix first learns its fate from its peers",
    );
    this.pipeline = new Pipeline(options.prepareQueueDepth, recovered.op);
    this.view = recovered.view;
    this.op = recovered.op;
    this.commit = recovered.op;
    this.commitKnown = recovered.op;
    this.lastChecksum = recovered.checksum;
  }

  /** Primary of view v is replica v mod n. */
  get primary(): number {
    return this.view % this.replicaCount;
  }

  get isPrimary(): boolean {
    return this.primary === this.replica;
  }
}
