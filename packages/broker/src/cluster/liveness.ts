import { EvictionReason, VOUCHED_SESSIONS_MAX, type VouchedSession } from "@millrace/protocol";
import { proposeRemoval } from "../consumer-groups/recovered-members.ts";
import { SILENT_INTERVALS } from "../sessions/heartbeat.ts";
import { proposeLogout } from "../sessions/logout.ts";
import type { Shard } from "../shard.ts";
import type { Peers } from "./peers.ts";
import { VouchedSessions } from "./vouched-sessions.ts";

/** Looks in the shortest time anybody is given: of three in a row that are lost nobody takes harm. */
const LOOKS_PER_GRACE = 4;

/** Sessions ended and members removed per look: the requests of clients wait behind them. */
const ENDED_AT_ONCE_MAX = 256;

/**
 * Finds out whose node died. Each node tells the metadata primary at an interval which sessions are connected
 * to it. Sessions and members of groups that no node vouches for end after the time a lone server gives those
 * it finds at its start.
 */
export class Liveness {
  readonly #shard: Shard;
  readonly #peers: Peers;
  readonly #vouched: VouchedSessions;
  readonly #intervalMs: number;

  constructor(shard: Shard, peers: Peers) {
    const { heartbeat, recoveredSessionGraceMs } = shard.config;
    this.#shard = shard;
    this.#peers = peers;
    this.#intervalMs = Math.min(heartbeat.intervalMs, recoveredSessionGraceMs) / LOOKS_PER_GRACE;
    this.#vouched = new VouchedSessions({ replicaCount: peers.replicaCount, intervalMs: this.#intervalMs });
  }

  /** Begins to look; returns what ends it. */
  start(): () => void {
    const { clock } = this.#shard.platform;
    const look = () => {
      this.#look();
      timer = clock.setTimer(this.#intervalMs, look);
    };
    let timer = clock.setTimer(this.#intervalMs, look);
    return () => timer.cancel();
  }

  /** Another node says which sessions are connected to it. */
  onVouch(from: number, sessions: readonly VouchedSession[]): void {
    this.#vouched.heard(from, sessions, this.#nowMs);
  }

  get #nowMs(): number {
    return this.#shard.platform.clock.monotonicMs();
  }

  #look(): void {
    const { metadata } = this.#shard;
    const connected = sessionsConnected(this.#shard);
    if (metadata.isPrimary) this.#judge(connected);
    else if (metadata.primary !== undefined) this.#tell(metadata.primary, connected);
  }

  /** In several messages when there are many; in an empty one when there are none. */
  #tell(primary: number, connected: readonly VouchedSession[]): void {
    let first = 0;
    do {
      this.#peers.sendVouch(primary, connected.slice(first, first + VOUCHED_SESSIONS_MAX));
      first += VOUCHED_SESSIONS_MAX;
    } while (first < connected.length);
  }

  #judge(connected: readonly VouchedSession[]): void {
    const { view, clientTable } = this.#shard.metadata;
    const nowMs = this.#nowMs;
    const sessions = clientTable.sessions().map(({ client, epoch: session }) => ({ client, session }));
    this.#vouched.look({ view, sessions, connected, nowMs });
    this.#removeMembers(nowMs);
    this.#logoutSessions(nowMs);
  }

  /**
   * A client with a request under way is not silent: it may be logging in anew, and its membership goes on.
   * What finds no room is asked again at the next look, if it is still true then.
   */
  #removeMembers(nowMs: number): void {
    const { config, catalog, metadata, platform } = this.#shard;
    const { isEnabled, intervalMs } = config.heartbeat;
    if (!isEnabled) return;
    const lost = this.#vouched
      .silentFor(SILENT_INTERVALS * intervalMs, nowMs)
      .filter(({ client }) => catalog.membershipsOf(client).length > 0 && !metadata.mayHaveRequestOf(client))
      .slice(0, ENDED_AT_ONCE_MAX);
    if (lost.length === 0) return;
    platform.log.info("Members of consumer groups that no node sees are removed.", { count: lost.length });
    for (const { client } of lost) proposeRemoval(this.#shard, client, () => {});
  }

  #logoutSessions(nowMs: number): void {
    const { config, metadata, platform } = this.#shard;
    const lost = this.#vouched.silentFor(config.recoveredSessionGraceMs, nowMs).slice(0, ENDED_AT_ONCE_MAX);
    if (lost.length === 0) return;
    platform.log.info("Sessions that no node sees are logged out.", { count: lost.length });
    for (const { client, session } of lost) {
      const user = metadata.clientTable.session(client)?.user;
      if (user !== undefined) proposeLogout(this.#shard, { client, session, user }, () => {});
    }
  }
}

/**
 * The sessions whose clients are connected to this node. One that has been overtaken by a login elsewhere is
 * fenced, as it is by a login here; one that is over, because nobody could vouch for it, is evicted.
 */
function sessionsConnected({ connections, metadata }: Shard): VouchedSession[] {
  const connected: VouchedSession[] = [];
  for (const connection of connections.list()) {
    const { session } = connection;
    if (session === undefined) continue;
    const now = metadata.clientTable.session(session.client);
    if (now?.epoch === session.session) connected.push({ client: session.client, session: session.session });
    else if (now !== undefined) session.isFenced = true;
    else if (connection.requestsInFlight === 0) connection.evict(EvictionReason.NoSession);
  }
  return connected;
}
