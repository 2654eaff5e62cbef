import { CodedError, ErrorCode } from "@millrace/errors";
import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { Clock, Connection, Listener, Log, Random } from "@millrace/platform";
import { listenTcp } from "@millrace/transports/tcp/server";
import { parseListenAddress } from "../config/listen-address.ts";
import type { Config } from "../config/schema.ts";
import { listenerTls } from "./listener-tls.ts";
import { namingSetting } from "./naming-setting.ts";
import { sessionsOf } from "./session-table-part.ts";

/** Unary gRPC clients may take this part of the session table. */
const SESSION_TABLE_PART = 0.25;

/** Name of a transport as the banner, the log and the configuration have it. */
export type ListenerName = "tcp" | "websocket" | "grpc";

/** Listeners that take connections. */
export interface OpenListeners {
  readonly opened: ReadonlyMap<ListenerName, Listener>;
  /** Stops accepting; open connections stay. */
  close(): Promise<void>;
}

/** What every listener is given. */
export interface ListenerParts {
  readonly kernel: ChecksumKernel;
  readonly leases: BlockPool;
  readonly clock: Clock;
  readonly random: Random;
  readonly onConnection: (connection: Connection) => void;
  readonly log: Log;
}

type Open = (config: Config, parts: ListenerParts) => Promise<Listener>;

const OPENERS: readonly (readonly [name: ListenerName, open: Open])[] = [
  ["tcp", openTcp],
  ["websocket", openWebSocket],
  ["grpc", openGrpc],
];

/**
 * Opens the listeners that are switched on. When one fails, those that were open are closed again.
 *
 * @throws CodedError CannotBindToSocket, InvalidTlsCertificatePath, InvalidTlsCertificate
 */
export async function openListeners(config: Config, parts: ListenerParts): Promise<OpenListeners> {
  const opened = new Map<ListenerName, Listener>();
  const close = async () => {
    for (const listener of opened.values()) await listener.close();
  };
  try {
    for (const [name, open] of OPENERS) {
      if (config[name].enabled) opened.set(name, await namingSetting(name, open(config, parts)));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { opened, close };
}

async function openTcp(config: Config, parts: ListenerParts): Promise<Listener> {
  const tls = await listenerTls(config.tcp.tls, "tcp.tls");
  return listenTcp({
    ...parts,
    ...parseListenAddress(config.tcp.address, "tcp.address"),
    messageLengthMax: config.message_bus.max_message_size,
    connectionsMax: config.tcp.connections_max,
    ...(tls === undefined ? {} : { tls }),
  });
}

async function openWebSocket(config: Config, parts: ListenerParts): Promise<Listener> {
  const { websocket, message_bus: bus } = config;
  const tls = await listenerTls(websocket.tls, "websocket.tls");
  const { listenWebSocket } = await import("@millrace/transports/websocket/server");
  return listenWebSocket({
    ...parts,
    ...parseListenAddress(websocket.address, "websocket.address"),
    messageLengthMax: Math.min(websocket.max_message_size, bus.max_message_size),
    connectionsMax: websocket.connections_max,
    acceptUnmaskedFrames: websocket.accept_unmasked_frames,
    ...(tls === undefined ? {} : { tls }),
  });
}

async function openGrpc(config: Config, parts: ListenerParts): Promise<Listener> {
  const { grpc, message_bus: bus } = config;
  const { kernel, clock, random } = parts;
  const tls = await listenerTls(grpc.tls, "grpc.tls");
  const { listenGrpc } = await import("@millrace/transports/grpc/server").catch(packageMissing);
  return listenGrpc({
    ...parts,
    ...parseListenAddress(grpc.address, "grpc.address"),
    messageLengthMax: bus.max_message_size,
    connectionsMax: grpc.connections_max,
    unary: { kernel, clock, random, sessionsMax: sessionsOf(config, SESSION_TABLE_PART) },
    ...(tls === undefined ? {} : { tls }),
  });
}

function packageMissing(cause: unknown): never {
  const text =
    "The setting grpc.enabled = true needs the package @grpc/grpc-js; install it beside millrace-server.";
  throw new CodedError(ErrorCode.FeatureUnavailable, text, { cause });
}
