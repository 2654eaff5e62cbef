import type { Random } from "@millrace/platform";
import type { Shard } from "../shard.ts";
import { Formation } from "./formation.ts";
import type { Peers } from "./peers.ts";
import { WaitingLine } from "./waiting-line.ts";

/** Milliseconds between two words of a node that waits for its cluster to form. */
const FORMATION_INTERVAL_MS = 200;

/** Milliseconds between two lines of the log that say whom a node waits for. */
const WAITING_LINE_INTERVAL_MS = 10_000;

/** Two starts of one node are told apart by a number below 2^53. */
const START_MAX = 2 ** 53 - 1;

/**
 * Waits with the others for the cluster to form, unless they have one already and take this node in. One
 * that holds something says so to those who wait.
 * @param isSilent  the replica has never spoken, as far as its directory knows
 */
export function beginFormation(
  { metadata, platform, roster }: Pick<Shard, "metadata" | "platform" | "roster">,
  peers: Peers,
  isSilent: boolean,
): { readonly formation: Formation; readonly end: () => void } {
  const { replica, replicaCount } = peers;
  const formation = new Formation({
    ...{ replica, replicaCount, start: isSilent ? drawStart(platform.random) : 0 },
    send: (to, starts) => peers.sendFormation(to, starts),
    isEmpty: () => metadata.mayBecomeNew,
    formed: () => metadata.becomeNew(),
  });
  const waits = new WaitingLine(platform, WAITING_LINE_INTERVAL_MS);
  const tell = () => {
    if (!formation.isOpen) return;
    formation.tell();
    waits.look(() => formation.unheard.map((at) => roster().nodes[at]?.name ?? `node ${at}`));
    timer = platform.clock.setTimer(FORMATION_INTERVAL_MS, tell);
  };
  let timer = platform.clock.setTimer(0, tell);
  return { formation, end: () => timer.cancel() };
}

function drawStart(random: Random): number {
  return 1 + Math.floor(random.fraction() * START_MAX);
}
