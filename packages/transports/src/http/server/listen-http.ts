import { CodedError, ErrorCode } from "@millrace/errors";
import type { Listener } from "@millrace/platform";
import { SharedSpace } from "../../assembly/message-space.ts";
import { AccessTokens } from "./access/access-tokens.ts";
import { createApp } from "./app.ts";
import { Deadlines } from "./connection/deadlines.ts";
import { DeliveryTurn } from "./connection/delivery-turn.ts";
import { RandomIds } from "./connection/random-ids.ts";
import type { ListenHttpOptions } from "./http-options.ts";
import { PARTITION_PATIENCE_MS } from "./sessions/http-session.ts";
import { SessionTable } from "./sessions/session-table.ts";
import { WriteSlots } from "./sessions/write-slots.ts";
import { TlsSockets } from "./tls-sockets.ts";

/** The open HTTP API. */
export interface HttpListener extends Listener {
  /** Logged-in clients. */
  readonly sessionsCount: number;
  /** Says in `/ready` that the server takes no more work; requests are answered as before. */
  stopBeingReady(): void;
  /**
   * Stops accepting, answers what is in flight, ends every session. Sockets that are busy after `graceMs` are
   * cut off.
   */
  close(): Promise<void>;
}

/** How long answers may take once the listener closes. */
const CLOSE_GRACE_MS = 5000;

/**
 * Opens the HTTP API.
 *
 * Every route stands for a binary command and is carried out by the broker on a connection that exists only
 * in memory, one per logged-in client: there is no second implementation of any command, permission or error.
 * @throws CodedError `CannotBindToSocket` with host, port and cause; `InvalidTlsCertificate`
 * @see http-api
 */
export async function listenHttp(options: ListenHttpOptions): Promise<HttpListener> {
  const { clock, random, kernel, leases } = options;
  const space = new SharedSpace(leases);
  const room = { kernel, space, ids: new RandomIds(random) };
  const { onConnection } = options;
  const parts = {
    clock,
    random,
    room,
    turn: new DeliveryTurn(),
    deadlines: new Deadlines(clock, PARTITION_PATIENCE_MS),
    writeSlots: new WriteSlots(),
    onConnection,
  };
  const tokens = new AccessTokens(options.jwt, { clock, random });
  const idleSeconds = options.jwt.expirySeconds;
  const sessions = new SessionTable({ parts, tokens, sessionsMax: options.sessionsMax, idleSeconds });
  let isReady = true;
  const app = await createApp(options, { sessions, isReady: () => isReady });
  const tlsSockets = options.tls === undefined ? undefined : new TlsSockets(app.server);
  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (error) {
    sessions.close();
    await app.close();
    throw cannotBind(options, error as Error);
  }
  const bound = app.server.address();
  const port = typeof bound === "object" && bound !== null ? bound.port : options.port;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    address: `${host}:${port}`,
    port,
    get sessionsCount() {
      return sessions.count;
    },
    stopBeingReady() {
      isReady = false;
    },
    async close() {
      isReady = false;
      const cutOff = clock.setTimer(CLOSE_GRACE_MS, () =>
        tlsSockets === undefined ? app.server.closeAllConnections() : tlsSockets.closeAll(),
      );
      const closed = app.close();
      tlsSockets?.closeIdle();
      await closed;
      cutOff.cancel();
      sessions.close();
      space.release();
    },
  };
}

function cannotBind({ host, port }: ListenHttpOptions, cause: Error): CodedError {
  const text = `The HTTP listener cannot bind ${host}:${port}: ${cause.message}`;
  return new CodedError(ErrorCode.CannotBindToSocket, text, { details: { host, port }, cause });
}
