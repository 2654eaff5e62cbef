import { CodedError, ErrorCode } from "@millrace/errors";
import { HeapLeases, type LeaseSource, MESSAGE_LENGTH_MAX } from "@millrace/framing";
import type { Connection, Listener } from "@millrace/platform";
import { ExactSpace, SharedSpace } from "../assembly/message-space.ts";
import { MemoryConnection, type MemoryConnectionOptions } from "./memory-connection.ts";

/** What a memory transport may be given; everything has a default. */
export interface MemoryTransportOptions {
  /**
   * Where messages to the listener are put; a `BlockPool` when they go to a broker. Default: plain arrays.
   */
  readonly leases?: LeaseSource;
  /** Longest message, header and body, in bytes. Default: the protocol's limit. */
  readonly messageLengthMax?: number;
  /** Runs a delivery later, in the order of the calls; default a microtask, in the simulator an event. */
  readonly schedule?: (delivery: () => void) => void;
  /** How many of the `length` bytes that one send left the next read brings; default all. */
  readonly pieceLength?: (length: number) => number;
}

/** Connections between parts of one process. */
export interface MemoryTransport {
  /** One listener at a time. */
  listen(onConnection: (connection: Connection) => void): Listener;
  /**
   * A connection to the listener, which hears of it before this returns.
   * @throws CodedError `CannotEstablishConnection` when nobody listens
   */
  connect(): Connection;
}

/** Makes a transport in memory: deterministic, with the same framing and the same checks as TCP. */
export function createMemoryTransport(options: MemoryTransportOptions = {}): MemoryTransport {
  const serverSpace = new SharedSpace(options.leases ?? new HeapLeases());
  const clientSpace = new ExactSpace(new HeapLeases());
  const shared = {
    messageLengthMax: options.messageLengthMax ?? MESSAGE_LENGTH_MAX,
    schedule: options.schedule ?? queueMicrotask,
    pieceLength: options.pieceLength ?? ((length: number) => length),
  };
  let accept: ((connection: Connection) => void) | undefined;
  let connectionsMade = 0;
  let connectionsOpen = 0;

  const endOf = (own: Pick<MemoryConnectionOptions, "remoteAddress" | "space" | "onGone">) =>
    new MemoryConnection({ ...shared, ...own });
  const onServerGone = () => {
    connectionsOpen--;
    if (connectionsOpen === 0) serverSpace.release();
  };

  return {
    listen(onConnection) {
      accept = onConnection;
      return {
        address: "memory:0",
        port: 0,
        close() {
          accept = undefined;
          return Promise.resolve();
        },
      };
    },
    connect() {
      if (accept === undefined) {
        throw new CodedError(ErrorCode.CannotEstablishConnection, "Nobody listens on the memory transport.");
      }
      connectionsMade++;
      connectionsOpen++;
      const client = endOf({ remoteAddress: "memory:0", space: clientSpace, onGone: () => {} });
      const remoteAddress = `memory:${connectionsMade}`;
      const server = endOf({ remoteAddress, space: serverSpace, onGone: onServerGone });
      MemoryConnection.join(client, server);
      accept(server);
      return client;
    },
  };
}
