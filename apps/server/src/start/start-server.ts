import { resolve } from "node:path";
import { createBroker } from "@millrace/broker";
import { BlockPool, createChecksumKernel } from "@millrace/framing";
import type { Log, Platform } from "@millrace/platform";
import { createNodePlatform } from "@millrace/platform/node";
import { createPrometheusMetrics } from "@millrace/platform/prometheus";
import type { HttpListener } from "@millrace/transports/http/server";
import { listenTcp } from "@millrace/transports/tcp/server";
import { effectiveConfig } from "../config/effective-config.ts";
import type { Environment } from "../config/environment.ts";
import { parseListenAddress } from "../config/listen-address.ts";
import type { Config } from "../config/schema.ts";
import { type RootCredentials, rootCredentials } from "../root-user/root-credentials.ts";
import { brokerConfig } from "./broker-config.ts";
import { deleteData } from "./fresh-data.ts";
import { singleNodeRoster } from "./roster.ts";
import { startHttp } from "./start-http.ts";

/** What a start is told. */
export interface StartOptions {
  readonly config: Config;
  readonly environment: Environment;
  readonly log: Log;
  /** Delete the data first. */
  readonly fresh: boolean;
  readonly withDefaultRootCredentials: boolean;
}

/** A server that takes connections. */
export interface RunningServer {
  /** The bound address as `host:port`. */
  readonly tcpAddress: string;
  /** The same of the HTTP API; undefined when it is off. */
  readonly httpAddress: string | undefined;
  /** Absolute. */
  readonly dataPath: string;
  /** The root user this start has made, if it made one. */
  readonly madeRootUser: RootCredentials | undefined;
  /** Stops accepting, answers what is in flight, flushes, closes. */
  stop(): Promise<void>;
}

/**
 * Recovers the data, then opens the listeners.
 *
 * @throws CodedError with a sentence that says what is wrong and where; nothing keeps running then
 */
export async function startServer(options: StartOptions): Promise<RunningServer> {
  const { config, log } = options;
  const dataPath = resolve(config.path);
  const metrics = createPrometheusMetrics();
  const platform = createNodePlatform({ dataPath, log, metrics });
  if (options.fresh) await deleteData(platform.disk);
  const listenAt = parseListenAddress(config.tcp.address, "tcp.address");
  const kernel = createChecksumKernel({ memoryLength: config.memory_pool.size });
  const pool = new BlockPool(kernel.memory);
  let bound = listenAt;
  let http: HttpListener | undefined;
  let madeRootUser: RootCredentials | undefined;
  const broker = await createBroker({
    platform,
    kernel,
    pool,
    config: brokerConfig(config),
    roster: () => {
      const { advertised_address: advertisedAddress } = config.node;
      return singleNodeRoster(bound, { httpPort: http?.port ?? 0, advertisedAddress });
    },
    rootUser: async () => {
      madeRootUser = firstRootUser(options, platform);
      const { username, password } = madeRootUser;
      return { name: username, passwordHash: await platform.passwords.hash(password) };
    },
  });
  const stopBroker = () => broker.stop({ drainMs: config.sharding.shutdown_drain_timeout });
  const listener = await listenTcp({
    ...listenAt,
    leases: pool,
    messageLengthMax: config.message_bus.max_message_size,
    connectionsMax: config.tcp.connections_max,
    onConnection: (connection) => broker.onConnection(connection),
    log,
  }).catch(async (error: unknown) => {
    await stopBroker();
    throw error;
  });
  bound = { host: listenAt.host, port: listener.port };
  const stop = async () => {
    http?.stopBeingReady();
    await Promise.all([listener.close(), http?.close()]);
    await stopBroker();
  };
  try {
    http = await startHttp({ config, platform, metrics, broker, kernel, pool });
    const addresses = { tcp: listener.address, http: http?.address };
    log.info("The listeners are open.", addresses);
    await writeEffectiveConfig(platform, config, { ...addresses, dataPath });
  } catch (error) {
    await stop();
    throw error;
  }
  return { tcpAddress: listener.address, httpAddress: http?.address, dataPath, madeRootUser, stop };
}

function firstRootUser(options: StartOptions, platform: Platform): RootCredentials {
  return rootCredentials({
    environment: options.environment,
    withDefaults: options.withDefaultRootCredentials,
    random: platform.random,
  });
}

async function writeEffectiveConfig(
  platform: Platform,
  config: Config,
  bound: { readonly tcp: string; readonly http: string | undefined; readonly dataPath: string },
): Promise<void> {
  await platform.disk.makeDirectory(config.runtime.path);
  const text = new TextEncoder().encode(effectiveConfig(config, bound));
  await platform.disk.writeWhole(`${config.runtime.path}/current_config.toml`, text);
}
