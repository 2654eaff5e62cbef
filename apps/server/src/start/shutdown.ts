import type { Log } from "@millrace/platform";
import type { LogSinks } from "../log/log-sinks.ts";
import type { ServiceManager } from "./service-manager.ts";
import type { RunningServer } from "./start-server.ts";

/** Exit codes by signal when a second one cuts an orderly stop short: 128 and the signal's number. */
const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

/** Code of a server that stopped because something was broken. */
const EXIT_BROKEN = 1;

/**
 * Stops the server on the first SIGTERM or SIGINT and exits 0; a second signal exits at once. Exits 1 when
 * stopping takes longer than `joinMs` or fails.
 */
export function stopOnSignals(
  server: RunningServer,
  options: {
    readonly log: Log;
    readonly sinks: LogSinks;
    readonly manager: ServiceManager;
    readonly joinMs: number;
  },
): void {
  const { log, sinks, manager, joinMs } = options;
  let isStopping = false;
  const onSignal = (signal: keyof typeof SIGNAL_EXIT_CODES) => {
    if (isStopping) process.exit(SIGNAL_EXIT_CODES[signal]);
    isStopping = true;
    log.info("Stopping.", { signal });
    manager.stopping();
    setTimeout(() => {
      log.error("Stopping took too long.", { joinMs });
      sinks.flushNow();
      process.exit(EXIT_BROKEN);
    }, joinMs).unref();
    server.stop().then(
      () => {
        log.info("Stopped.");
        void sinks.close().finally(() => process.exit(0));
      },
      (error: unknown) => {
        log.error("Stopping failed.", { error: String(error) });
        sinks.flushNow();
        process.exit(EXIT_BROKEN);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

/**
 * A shard that ended takes its partitions with it: the process ends rather than serve the rest.
 *
 * @param flushLog  writes what waits in the log, before it returns
 */
export function exitOnLostShard(log: Log, flushLog: () => void): (shard: number, reason: string) => void {
  return (shard, reason) => {
    const text =
      "A shard has ended. The server stops: a part of its partitions could not be served any more.";
    log.error(text, { shard, reason });
    flushLog();
    process.exit(EXIT_BROKEN);
  };
}

/**
 * A replica that cannot write what it promises the others takes no part in its cluster: the process ends, and
 * whoever watches it starts it again.
 *
 * @param flushLog  writes what waits in the log, before it returns
 */
export function exitOnWedgedReplica(log: Log, flushLog: () => void): (reason: string) => void {
  return (reason) => {
    const text =
      "The server stops: a replica of this node could not write for cluster.superblock_wedged_fatal_timeout.";
    log.error(text, { reason });
    flushLog();
    process.exit(EXIT_BROKEN);
  };
}

const ADVICE =
  "Start it again: what was acknowledged is in its files, and the other nodes of a cluster go on. If it stops " +
  "again, keep the data directory as it is and report this line and the log before it; a node of a cluster " +
  "can go on with an empty directory meanwhile, one node at a time.";

/**
 * A mistake of our own ends the process: it never goes on half alive.
 *
 * @param flushLog  writes what waits in the log, before it returns
 */
export function exitOnBrokenInvariants(log: Log, flushLog: () => void): void {
  const onBroken = (error: unknown) => {
    const { message, stack } = error instanceof Error ? error : new Error(String(error));
    log.error("The server stops because of a mistake of its own.", { message, advice: ADVICE, stack });
    flushLog();
    process.exit(EXIT_BROKEN);
  };
  process.on("uncaughtException", onBroken);
  process.on("unhandledRejection", onBroken);
}
