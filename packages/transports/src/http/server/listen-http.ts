import { type Listener, TransportKind } from "@millrace/platform";
import { addressText, cannotBind } from "../../listening/addresses.ts";
import { sessionParts } from "../../virtual/session-parts.ts";
import { AccessTokens } from "./access/access-tokens.ts";
import { createApp } from "./app.ts";
import type { ListenHttpOptions } from "./http-options.ts";
import { HTTP_FAILURES } from "./sessions/http-failures.ts";
import { SessionTable } from "./sessions/session-table.ts";
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
  const { clock, random } = options;
  const { parts, space } = sessionParts({
    ...options,
    failures: HTTP_FAILURES,
    transport: TransportKind.http,
    sdkName: "http",
  });
  const tokens = new AccessTokens(options.jwt, { clock, random });
  const idleSeconds = options.jwt.expirySeconds;
  const { sessionsMax, whyNoLogin } = options;
  const sessions = new SessionTable({ parts, tokens, sessionsMax, idleSeconds, whyNoLogin });
  let isReady = true;
  const app = await createApp(options, { sessions, answers: parts.answers, isReady: () => isReady });
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
  return {
    address: addressText({ host: options.host, port }),
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
