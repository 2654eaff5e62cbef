import type { Clock, Connection, Random } from "@millrace/platform";
import type { TlsOptions } from "./client-options.ts";
import type { ClientEvent, ClientEventFacts } from "./connection/client-events.ts";
import type { ClientTransport } from "./server-address.ts";

/** Where a connection is asked to go. Times are milliseconds; `signal` gives up early. */
export interface ConnectRequest {
  readonly host: string;
  readonly port: number;
  /** Undefined stands for `tcp`. */
  readonly transport?: ClientTransport;
  /** Encrypts; undefined connects in clear. */
  readonly tls?: TlsOptions | undefined;
  readonly timeoutMs: number;
  readonly noDelay: boolean;
  readonly messageLengthMax: number;
  readonly signal?: AbortSignal;
}

/**
 * Knows whether the running code was called, also across awaits, from inside `run`.
 *
 * A consumer's `close()` asks it, so that a handler may close its own consumer without waiting for itself.
 */
export interface Scope {
  run<T>(body: () => T): T;
  isInside(): boolean;
}

/**
 * What the client asks of its surroundings. `default-platform.ts` answers for Node; tests and other
 * runtimes bring their own.
 *
 * Timers of `clock` keep the process alive, for somebody awaits what they bring: a reconnect, a linger, a
 * poll.
 */
export interface ClientPlatform {
  /** What carries connections when nobody says; `tcp` unless given. */
  readonly defaultTransport?: ClientTransport;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Opens one connection. Rejects with a `CodedError` that names `host:port`. Its leases are heap leases:
   * their bytes stay good as long as somebody refers to them, for polled messages are views of them.
   */
  connect(request: ConnectRequest): Promise<Connection>;
  /** Tells observers outside the program's own code, on Node through `diagnostics_channel`. Never throws. */
  publish(event: ClientEvent, facts: ClientEventFacts): void;
  createScope(): Scope;
}
