import type { GroupState } from "./group-state.ts";
import type { ReplicaMessage } from "./messages/replica-message.ts";
import type { Output } from "./output.ts";

/** One message to every other replica, in index order. */
export function broadcast(state: GroupState, message: ReplicaMessage): Output[] {
  const outputs: Output[] = [];
  for (let to = 0; to < state.replicaCount; to += 1) {
    if (to !== state.replica) outputs.push({ kind: "send", to, message });
  }
  return outputs;
}

/** Replicas in a set of bits. */
export function bitCount(set: number): number {
  let count = 0;
  for (let rest = set; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}
