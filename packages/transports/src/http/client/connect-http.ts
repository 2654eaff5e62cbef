import { isCodedError } from "@millrace/errors";
import { type Connection, TransportKind } from "@millrace/platform";
import { ExactSpace } from "../../assembly/message-space.ts";
import { CarriedConnection } from "../../carried/carried-connection.ts";
import { cannotConnect, connectingGivenUp } from "../../connect-failures.ts";
import type { ConnectOptions } from "../../connect-options.ts";
import { systemCode } from "../../connection-lost.ts";
import { addressText } from "../../listening/addresses.ts";
import { certificateRefused } from "../../tls/certificate-refused.ts";
import type { ClientTls } from "../../tls/client-tls.ts";
import { ApiPeer } from "./api-peer.ts";
import { HttpCarrier } from "./http-carrier.ts";

/** Where to connect to and what to read into. */
export interface ConnectHttpOptions extends ConnectOptions {
  /** HTTPS, and how the server is checked; without it everything goes in clear. */
  readonly tls?: ClientTls;
}

/** JSON may be this many times longer than the bytes it stands for: base64, and names of numbers. */
const JSON_FACTOR = 2;

/** Answers of any command are at least let be this long: a `pong` is longer than its binary reply. */
const ANSWER_LENGTH_MIN = 65_536;

/**
 * Opens one connection that carries the binary protocol as requests of the HTTP API, once a `GET /ping` was
 * answered. Set its callbacks at once when the promise resolves.
 *
 * Commands without a route are answered FeatureUnavailable. A write whose connection is lost before the
 * answer must not be sent again: over HTTP requests have no identity.
 * @throws CodedError `CannotEstablishConnection` with host, port and cause, also after `timeoutMs` and for a
 *   server that is none of the API; `InvalidTlsCertificate`; `Aborted` by the signal
 */
export async function connectHttp(options: ConnectHttpOptions): Promise<Connection> {
  const { host, port, tls, messageLengthMax, signal } = options;
  if (signal?.aborted === true) throw connectingGivenUp(options);
  const answerLengthMax = Math.max(ANSWER_LENGTH_MIN, messageLengthMax * JSON_FACTOR);
  const peer = new ApiPeer({ host, port, answerLengthMax, ...(tls === undefined ? {} : { tls }) });
  try {
    await withinLimits(options, checkServer(peer, options));
  } catch (error) {
    peer.close();
    throw error;
  }
  const connection = new CarriedConnection({
    transport: TransportKind.http,
    remoteAddress: addressText(options),
    space: new ExactSpace(options.leases),
    messageLengthMax,
  });
  connection.attach(new HttpCarrier(peer, connection));
  return connection;
}

async function checkServer(peer: ApiPeer, options: ConnectHttpOptions): Promise<void> {
  const over = overOf(options);
  const answer = await peer.send({ method: "GET", path: "/ping" }).catch((error: Error) => {
    if (isCodedError(error)) throw error;
    throw (
      certificateRefused(error, options) ??
      cannotConnect(options, { over, reason: systemCode(error), cause: error })
    );
  });
  if (answer.isSuccess && answer.text.trim() === "pong") return;
  const reason = `it answers HTTP ${answer.status} to GET /ping, as no server of the API does`;
  throw cannotConnect(options, { over, reason });
}

/** Rejects when the time is over or the signal comes before the step ends. */
function withinLimits(options: ConnectHttpOptions, step: Promise<void>): Promise<void> {
  const { timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(connectingGivenUp(options));
    const timer = setTimeout(
      () => reject(cannotConnect(options, { over: overOf(options), reason: `no answer in ${timeoutMs} ms` })),
      timeoutMs,
    );
    signal?.addEventListener("abort", onAbort);
    step.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    });
  });
}

function overOf({ tls }: ConnectHttpOptions): string {
  return tls === undefined ? "HTTP" : "HTTPS";
}
