import { type GroupState, NO_OUTPUTS } from "../group-state.ts";
import type { AskToLead } from "../messages/ask-to-lead.ts";
import type { Output } from "../output.ts";
import { changeView } from "./change-view.ts";

/**
 * The host wants this replica to lead: it asks the primary, when it could do so at once.
 *
 * That is a normal backup whose log reaches to all it knows to be committed, and that has no doubts about its
 * primary; not before its view has stood for a heartbeat time-out, nor sooner again than that, so views
 * cannot chase each other.
 * @see docs/adr/0052
 */
export function onLead(state: GroupState): readonly Output[] {
  const { ticks, timers, view, replica, op } = state;
  const mayLead = state.status === "normal" && !state.isPrimary && !state.isAsking;
  const isUpToDate = state.commit === state.commitKnown && !state.repair.isActive;
  if (!mayLead || !isUpToDate || ticks < state.mayAskToLeadFrom) return NO_OUTPUTS;
  state.mayAskToLeadFrom = ticks + timers.timing.heartbeatTimeout;
  state.asksToLeadUntil = ticks + timers.timing.prepareRetransmitInterval;
  return [{ kind: "send", to: state.primary, message: { kind: "askToLead", view, replica, op } }];
}

/** A backup asks to lead: the primary numbers nothing any more, and hands over once it has committed all. */
export function onAskToLead(state: GroupState, { view, replica, op }: AskToLead): readonly Output[] {
  if (!state.isPrimary || view !== state.view || state.isAsking) return NO_OUTPUTS;
  if (state.yieldsTo !== undefined || op < state.commit) return NO_OUTPUTS;
  return yieldTo(state, replica);
}

/** The host of a primary wants a backup to lead: it hands over as if that one had asked. */
export function onYield(state: GroupState, to: number): readonly Output[] {
  const isPeer = to !== state.replica && to >= 0 && to < state.replicaCount;
  if (!state.isPrimary || !isPeer || state.isAsking || state.yieldsTo !== undefined) return NO_OUTPUTS;
  return yieldTo(state, to);
}

function yieldTo(state: GroupState, replica: number): readonly Output[] {
  state.yieldsTo = replica;
  state.yieldsUntil = state.ticks + state.timers.timing.prepareRetransmitInterval;
  return handOverWhenDone(state);
}

/**
 * Goes to the next view that the backup leads when nothing is in flight; when that takes too long, it leads
 * on.
 *
 * The view change is the usual one. So no client hears that the outcome of its request is open.
 * @see Viewstamped Replication Revisited, section 4.2, step 1
 */
export function handOverWhenDone(state: GroupState): readonly Output[] {
  const { yieldsTo, view, replicaCount } = state;
  if (yieldsTo === undefined) return NO_OUTPUTS;
  if (state.commit === state.op) {
    const ahead = (yieldsTo - (view % replicaCount) + replicaCount) % replicaCount;
    return changeView(state, view + ahead);
  }
  if (state.ticks >= state.yieldsUntil) state.yieldsTo = undefined;
  return NO_OUTPUTS;
}
