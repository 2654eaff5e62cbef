import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { readFile } from "node:fs/promises";
import { CodedError, ErrorCode } from "@millrace/errors";
import { HeapLeases } from "@millrace/framing";
import type { Connection } from "@millrace/platform";
import { createNodeClock, nodeRandom } from "@millrace/platform/node";
import type { ClientTls } from "@millrace/transports/tls";
import type { TlsOptions } from "./client-options.ts";
import type { ClientPlatform, ConnectRequest, Scope } from "./client-platform.ts";

const leases = new HeapLeases();

const channels = {
  connected: channel("millrace:connected"),
  disconnected: channel("millrace:disconnected"),
  reconnecting: channel("millrace:reconnecting"),
};

/** Each transport is loaded when it is first used: whoever speaks TCP needs no package for WebSocket. */
async function connect({ transport, tls, ...request }: ConnectRequest): Promise<Connection> {
  const options = { ...request, leases, ...(tls === undefined ? {} : { tls: await clientTls(tls) }) };
  if (transport === "ws") {
    const module = await import("@millrace/transports/websocket/client").catch(packageMissing("ws", "ws"));
    return module.connectWebSocket(options);
  }
  if (transport === "grpc") {
    const missing = packageMissing("grpc", "@grpc/grpc-js");
    const module = await import("@millrace/transports/grpc/client").catch(missing);
    return module.connectGrpc(options);
  }
  if (transport === "http") {
    const missing = packageMissing("http", "lossless-json");
    const module = await import("@millrace/transports/http/client").catch(missing);
    return module.connectHttp(options);
  }
  const { connectTcp } = await import("@millrace/transports/tcp/client");
  return connectTcp(options);
}

function packageMissing(transport: string, name: string): (cause: unknown) => never {
  return (cause) => {
    const message = `The transport ${transport} needs the package ${name}; install it beside @millrace/client.`;
    throw new CodedError(ErrorCode.FeatureUnavailable, message, { cause });
  };
}

async function clientTls({ domain, caFile, validate = true }: TlsOptions): Promise<ClientTls> {
  return {
    isVerified: validate,
    ...(domain === undefined ? {} : { serverName: domain }),
    ...(caFile === undefined ? {} : { authorities: await readAuthorities(caFile) }),
  };
}

async function readAuthorities(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    const message = `The file of certificate authorities ${path} cannot be read.`;
    throw new CodedError(ErrorCode.InvalidTlsCertificatePath, message, { details: { path }, cause });
  }
}

function createScope(): Scope {
  const storage = new AsyncLocalStorage<true>();
  return { run: (body) => storage.run(true, body), isInside: () => storage.getStore() === true };
}

/**
 * The surroundings of a client in Node: the real clock with timers that keep the process alive, chance of the
 * operating system, TCP, and `diagnostics_channel`. The only file of the client that knows Node; browsers get
 * `browser-platform.ts` in its place, by the `imports` of package.json.
 */
export function createDefaultPlatform(): ClientPlatform {
  return {
    clock: {
      ...createNodeClock(),
      setTimer(delayMs, callback) {
        const timeout = setTimeout(callback, delayMs);
        return { cancel: () => clearTimeout(timeout) };
      },
    },
    random: nodeRandom,
    connect,
    publish: (event, facts) => {
      if (channels[event].hasSubscribers) channels[event].publish(facts);
    },
    createScope,
  };
}
