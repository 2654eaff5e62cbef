import { CodedError, ErrorCode } from "@millrace/errors";
import {
  type ClientTransport,
  defaultPortOf,
  formatServerAddress,
  type ServerAddress,
} from "../server-address.ts";

/** What a wrong port, or TLS on one side alone, shows itself as. */
const MISUNDERSTANDINGS: ReadonlySet<number> = new Set<number>([
  ErrorCode.CannotEstablishConnection,
  ErrorCode.Disconnected,
  ErrorCode.ConnectionClosed,
  ErrorCode.InvalidCommand,
  ErrorCode.RequestTimeout,
]);

/** The system's words for nobody being there at all, where the port and TLS are not what to look at. */
const NOBODY_THERE = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/;

const NAMES: Readonly<Record<ClientTransport, string>> = {
  tcp: "TCP",
  ws: "WebSocket",
  grpc: "gRPC",
  http: "HTTP",
};

/**
 * The error of a first contact, saying what to check when whoever answered there did not understand, or was
 * not understood; any other error as it is.
 */
export function withWhatToCheck(
  error: CodedError,
  to: { readonly address: ServerAddress; readonly transport: ClientTransport; readonly isEncrypted: boolean },
): CodedError {
  if (!MISUNDERSTANDINGS.has(error.code) || NOBODY_THERE.test(error.message)) return error;
  const place = `${formatServerAddress(to.address)} is the server's ${NAMES[to.transport]} port`;
  const usual = `${defaultPortOf(to.transport)} unless it was changed`;
  const tls = `TLS is ${to.isEncrypted ? "on" : "off"} there as it is here`;
  const message = `${error.message} Check that ${place} (${usual}), and that ${tls}.`;
  return new CodedError(error.code, message, { details: error.details, cause: error.cause });
}
