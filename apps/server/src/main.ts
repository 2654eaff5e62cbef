import { isCodedError } from "@millrace/errors";
import { withEnvironmentFile } from "./config/environment-file.ts";
import { loadConfig } from "./config/load-config.ts";
import { type Flags, parseFlags } from "./flags/flags.ts";
import { HELP } from "./flags/help.ts";
import { consoleSink } from "./log/console-sink.ts";
import { LogSinks } from "./log/log-sinks.ts";
import { createPinoLog } from "./log/pino-log.ts";
import { banner, rootUserLeft } from "./start/banner.ts";
import { serviceManager } from "./start/service-manager.ts";
import {
  exitOnBrokenInvariants,
  exitOnLostShard,
  exitOnWedgedReplica,
  stopOnSignals,
} from "./start/shutdown.ts";
import { startServer } from "./start/start-server.ts";
import { VERSION } from "./version.ts";

/**
 * Runs the server from the command line. Whatever keeps it from starting is said in one line, and it exits 1.
 */
export async function main(args: readonly string[]): Promise<void> {
  try {
    const flags = parseFlags(args);
    if (flags.help) process.stdout.write(HELP);
    else if (flags.version) process.stdout.write(`millrace-server ${VERSION}\n`);
    else await serve(flags);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    process.stderr.write(`millrace-server: ${error.message}${detailsText(error.details)}\n`);
    process.exitCode = 1;
  }
}

async function serve(flags: Flags): Promise<void> {
  const { environment, path: environmentPath } = await withEnvironmentFile(process.env, process.cwd());
  const { config, configPath, replica, warnings } = await loadConfig({
    environment,
    configPath: flags.configPath,
    dataPath: flags.dataPath,
    replica: flags.replica,
  });
  const sinks = new LogSinks(consoleSink({ pretty: process.stderr.isTTY === true }));
  const log = createPinoLog({ level: config.logging.level, sink: sinks });
  exitOnBrokenInvariants(log, () => sinks.flushNow());
  if (environmentPath !== undefined) log.info("Variables were read from a file.", { path: environmentPath });
  if (configPath !== undefined) log.info("Settings were read from a file.", { path: configPath });
  for (const warning of warnings) log.warn(warning);
  const server = await startServer({
    config,
    replica,
    environment,
    log,
    sinks,
    fresh: flags.fresh,
    withDefaultRootCredentials: flags.withDefaultRootCredentials,
    onShardLost: exitOnLostShard(log, () => sinks.flushNow()),
    onReplicaWedged: exitOnWedgedReplica(log, () => sinks.flushNow()),
    onRootUserLeft: (rootUser) => process.stdout.write(rootUserLeft(rootUser)),
  }).catch(async (error: unknown) => {
    await sinks.close();
    throw error;
  });
  const manager = serviceManager(process.env, log);
  stopOnSignals(server, { log, sinks, manager, joinMs: config.sharding.shutdown_join_timeout });
  process.stdout.write(banner({ version: VERSION, ...server }));
  manager.ready();
}

function detailsText(details: Readonly<Record<string, unknown>>): string {
  const shown = Object.entries(details).map(([key, value]) => `${key}: ${String(value)}`);
  return shown.length === 0 ? "" : ` (${shown.join(", ")})`;
}

await main(process.argv.slice(2));
