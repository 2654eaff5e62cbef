import { AsyncLocalStorage } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";
import { HeapLeases } from "@millrace/framing";
import { createNodeClock, nodeRandom } from "@millrace/platform/node";
import type { ClientPlatform, ConnectRequest, Scope } from "./client-platform.ts";

const leases = new HeapLeases();

const channels = {
  connected: channel("millrace:connected"),
  disconnected: channel("millrace:disconnected"),
  reconnecting: channel("millrace:reconnecting"),
};

async function connect(request: ConnectRequest) {
  const { connectTcp } = await import("@millrace/transports/tcp/client");
  return connectTcp({ ...request, leases });
}

function createScope(): Scope {
  const storage = new AsyncLocalStorage<true>();
  return { run: (body) => storage.run(true, body), isInside: () => storage.getStore() === true };
}

/**
 * The surroundings of a client in Node: the real clock with timers that keep the process alive, chance of the
 * operating system, TCP, and `diagnostics_channel`. The only file of the client that knows Node.
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
