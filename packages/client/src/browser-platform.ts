import { CodedError, ErrorCode } from "@millrace/errors";
import { HeapLeases } from "@millrace/framing";
import type { Connection } from "@millrace/platform";
import { connectBrowserWebSocket } from "@millrace/transports/websocket/browser";
import type { ClientPlatform, ConnectRequest, Scope } from "./client-platform.ts";

const leases = new HeapLeases();

/** Steps of a random 32-bit number. */
const FRACTION_STEPS = 2 ** 32;

/**
 * The surroundings of a client in a browser: `performance`, `crypto` and the browser's `WebSocket`. Nobody
 * outside the page observes its events, and certificates are checked by the browser alone.
 */
export function createDefaultPlatform(): ClientPlatform {
  return {
    defaultTransport: "ws",
    clock: {
      wallMicros: () => Math.round((performance.timeOrigin + performance.now()) * 1000),
      monotonicMs: () => performance.now(),
      setTimer(delayMs, callback) {
        const timeout = setTimeout(callback, delayMs);
        return { cancel: () => clearTimeout(timeout) };
      },
      afterEvent: (callback) => void setTimeout(callback, 0),
    },
    random: {
      bytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
      fraction: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / FRACTION_STEPS,
    },
    connect,
    publish: () => {},
    createScope,
  };
}

async function connect({ transport, tls, ...request }: ConnectRequest): Promise<Connection> {
  if (transport !== "ws") throw unavailable(`The transport ${transport}`, "use ws");
  const { domain, caFile, validate = true } = tls ?? {};
  if (domain !== undefined || caFile !== undefined || !validate) {
    throw unavailable("Another way to check certificates", "let tls be true");
  }
  return connectBrowserWebSocket({ ...request, leases, isEncrypted: tls !== undefined });
}

function unavailable(what: string, instead: string): CodedError {
  return new CodedError(ErrorCode.FeatureUnavailable, `${what} is not available in a browser; ${instead}.`);
}

/**
 * A browser cannot follow a call across its awaits. So as long as a handler runs, whoever asks counts as
 * inside: a consumer closed meanwhile from elsewhere does not wait for that handler, rather than for itself.
 */
function createScope(): Scope {
  let running = 0;
  return {
    run(body) {
      running++;
      const leave = () => {
        running--;
      };
      try {
        const result = body();
        if (result instanceof Promise) result.then(leave, leave);
        else leave();
        return result;
      } catch (error) {
        leave();
        throw error;
      }
    },
    isInside: () => running > 0,
  };
}
