import { type Connection, clockOfEvents } from "@millrace/platform";
import { admitClientRequest } from "./admission/admit-client-request.ts";
import type { BrokerOptions } from "./broker-options.ts";
import { removeLostMembers } from "./consumer-groups/recovered-members.ts";
import { ReplySlots } from "./replies/reply-slots.ts";
import { scrubPartitions } from "./scrubber/scrubber.ts";
import { ClientConnection, type ConnectionHost } from "./sessions/client-connection.ts";
import { watchHeartbeats } from "./sessions/heartbeat.ts";
import { endSession } from "./sessions/logout.ts";
import { releaseRecoveredSessions } from "./sessions/recovered-sessions.ts";
import { watchSlowReaders } from "./sessions/slow-readers.ts";
import type { Shard } from "./shard.ts";
import { type OpenedShard, openShard } from "./start/open-shard.ts";
import { cleanExpiredTokens } from "./tokens/token-cleaner.ts";

/**
 * One shard of a server: takes connections, whichever transport made them, and serves every command.
 *
 * Knows no sockets and no real time; what it needs comes with the platform.
 */
export class Broker {
  readonly #opened: OpenedShard;
  readonly #host: ConnectionHost;
  readonly #stopHeartbeats: () => void;
  readonly #stopReleasing: () => void;
  readonly #stopRemoving: () => void;
  readonly #stopWatchingReaders: () => void;
  readonly #stopCleaningTokens: () => void;
  readonly #stopScrubbing: () => void;
  #isStopping = false;

  /** Use `createBroker`. */
  constructor(opened: OpenedShard) {
    const { shard } = opened;
    this.#opened = opened;
    this.#host = {
      clock: clockOfEvents(shard.platform.clock),
      replySlots: new ReplySlots(),
      limits: shard.config,
      allReplies: { length: 0 },
      begin: (request) => admitClientRequest(shard, request),
      ended: (connection) => {
        shard.connections.remove(connection);
        endSession(shard, connection);
      },
    };
    this.#stopHeartbeats = watchHeartbeats(shard);
    this.#stopReleasing = releaseRecoveredSessions(shard);
    this.#stopRemoving = removeLostMembers(shard);
    this.#stopWatchingReaders = watchSlowReaders(shard);
    this.#stopCleaningTokens = cleanExpiredTokens(shard);
    this.#stopScrubbing = scrubPartitions(shard);
    if (shard.config.messageCleaner.isEnabled) shard.messageCleaner.start();
  }

  /** The broker's parts, for those who look inside: other transports, tests, the simulator. */
  get shard(): Shard {
    return this.#opened.shard;
  }

  /** Bytes of replies that no client has taken yet, over all connections. */
  get repliesLength(): number {
    return this.#host.allReplies.length;
  }

  /** Serves a connection from its first message on. While stopping it is closed at once. */
  onConnection(connection: Connection): void {
    if (this.#isStopping) {
      connection.close();
      return;
    }
    const { connections } = this.shard;
    connections.add(new ClientConnection({ number: connections.nextNumber(), connection, host: this.#host }));
  }

  /**
   * Answers what is in flight, closes every connection, flushes and closes every file. Settles when all that
   * is done.
   *
   * @param options.drainMs  how long connections may take before they are cut off
   */
  async stop(options: { readonly drainMs: number }): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#stopHeartbeats();
    this.#stopReleasing();
    this.#stopRemoving();
    this.#stopWatchingReaders();
    this.#stopCleaningTokens();
    this.#stopScrubbing();
    this.shard.messageCleaner.stop();
    await this.#drainConnections(options.drainMs);
    await this.#opened.close();
  }

  async #drainConnections(drainMs: number): Promise<void> {
    const { connections, platform } = this.shard;
    for (const connection of connections.list()) connection.finish();
    const cutOff = platform.clock.setTimer(drainMs, () => {
      for (const connection of connections.list()) connection.close();
    });
    await connections.empty();
    cutOff.cancel();
  }
}

/**
 * Opens the data directory, recovers metadata and partitions, and makes a broker that is ready for
 * connections.
 *
 * @throws CodedError DataDirectoryInUse, FormatTooNew, ForeignDataDirectory, DataDirectoryUnusable,
 *          InvalidEncryptionKey, MetadataDamaged,
 *         or whatever kept the first start from making the root user; nothing is left open or changed then
 */
export async function createBroker(options: BrokerOptions): Promise<Broker> {
  return new Broker(await openShard(options));
}
