import type { NodeInGroup } from "./groups-of.ts";
import { quorums } from "./quorums.ts";

/**
 * What is known of a partition's leader: there is one; there is none, so nothing can be written; or those
 * nodes have not answered that would know, and it may well take writes.
 */
export type Leading = "led" | "leaderless" | "unknown";

/**
 * Whether somebody leads, as far as the nodes say. The primary of the view that nodes take part in leads it,
 * also while it is slow to answer. Where none of those that answered takes part in a view, the others may
 * have one among themselves if they are enough for it.
 *
 * @param isOwing  by replica id, whether a node is connected and has not answered
 */
export function leadingOf(nodes: readonly NodeInGroup[], isOwing: readonly boolean[]): Leading {
  if (nodes.some(({ leads }) => leads)) return "led";
  const views = nodes.flatMap(({ standing }) => (standing?.status === "normal" ? [standing.view] : []));
  if (views.length > 0) return isOwing[Math.max(...views) % nodes.length] === true ? "unknown" : "leaderless";
  const owingCount = isOwing.filter(Boolean).length;
  return owingCount >= quorums(nodes.length).write ? "unknown" : "leaderless";
}
