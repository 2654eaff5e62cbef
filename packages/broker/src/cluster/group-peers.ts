import type { ReplicaMessage, ReplicaOptions } from "@millrace/vsr";

/** The other replicas of one group, as the group's host uses them. */
export interface GroupPeers {
  /** What a replica of the group is made with, besides its log. */
  readonly options: Pick<ReplicaOptions, "replica" | "replicaCount" | "cluster" | "timing" | "seed">;
  /**
   * Sends a message to the group's replica on another node, as far as there is room: it may be lost.
   * @param body  of a prepare; lent until `onDone`
   */
  send(to: number, message: ReplicaMessage, body?: PrepareBody): void;
}

/** The body of a prepare on its way to another replica. */
export interface PrepareBody {
  readonly bytes: Uint8Array;
  /** Called once when the bytes are not needed any more. */
  onDone?(): void;
}
