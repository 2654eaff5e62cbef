import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { parseDuration } from "@millrace/protocol";
import type { ClientOptions, ReconnectOptions, TlsOptions } from "./client-options.ts";
import { isClientTransport } from "./server-address.ts";

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
type Draft = Writable<Omit<ClientOptions, "reconnect" | "tls">> & {
  reconnect: Writable<ReconnectOptions>;
  tls: Writable<TlsOptions> & { isOn: boolean };
};

const MICROS_PER_MS = 1000;

function refuse(problem: string): never {
  throw new CodedError(
    ErrorCode.InvalidConnectionString,
    `${problem} Write iggy://user:password@host:port?key=value, or millrace:// in its place.`,
  );
}

/** `5s`, `250ms`, `1m 30s`: parts of a number and a unit, added up. */
function durationMs(key: string, text: string): number {
  const micros = parseDuration(text);
  if (micros === undefined) return refuse(`${key} is not a duration such as 5s or 250ms.`);
  return Number(micros) / MICROS_PER_MS;
}

/** `true` or `false`. */
function flag(key: string, text: string): boolean {
  if (text === "true" || text === "false") return text === "true";
  return refuse(`${key} is neither true nor false.`);
}

function setRetries(draft: Draft, key: string, text: string): void {
  if (text === "unlimited") draft.reconnect.retries = Number.POSITIVE_INFINITY;
  else if (/^\d+$/.test(text)) draft.reconnect.retries = Number(text);
  else refuse(`${key} is neither a number nor unlimited.`);
}

/** Options of official clients for buffers and frames of a WebSocket, which take care of themselves here. */
const WITHOUT_EFFECT = [
  "read_buffer_size",
  "write_buffer_size",
  "max_write_buffer_size",
  "max_message_size",
  "max_frame_size",
  "accept_unmasked_frames",
];

/**
 * What each option of a connection string changes. An option of Iggy's that changes nothing here is
 * accepted.
 */
const SETTERS: Readonly<Record<string, (draft: Draft, value: string) => void>> = {
  tls: (draft, value) => {
    draft.tls.isOn = flag("tls", value);
  },
  tls_domain: (draft, value) => {
    if (value === "") refuse("tls_domain is empty.");
    draft.tls.domain = value;
  },
  tls_ca_file: (draft, value) => {
    if (value === "") refuse("tls_ca_file is empty.");
    draft.tls.caFile = value;
  },
  tls_validate_certificate: (draft, value) => {
    draft.tls.validate = flag("tls_validate_certificate", value);
  },
  ...Object.fromEntries(WITHOUT_EFFECT.map((key) => [key, () => {}])),
  reconnection_retries: (draft, value) => setRetries(draft, "reconnection_retries", value),
  // The same for HTTP, where official clients have no connection to make again.
  retries: (draft, value) => setRetries(draft, "retries", value),
  reconnection_interval: (draft, value) => {
    draft.reconnect.intervalMs = durationMs("reconnection_interval", value);
  },
  // Iggy waits this long after a loss before it tries at all; here the back-off with jitter does that work.
  reestablish_after: (_, value) => void durationMs("reestablish_after", value),
  heartbeat_interval: (draft, value) => {
    draft.heartbeatIntervalMs = durationMs("heartbeat_interval", value);
  },
  nodelay: (draft, value) => {
    draft.noDelay = value === "true";
  },
};

function applyOptions(draft: Draft, query: string): void {
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    const key = at < 0 ? pair : pair.slice(0, at);
    const apply = Object.hasOwn(SETTERS, key) ? SETTERS[key] : undefined;
    if (apply === undefined || at < 0) refuse(`The option ${key} is not known.`);
    else apply(draft, pair.slice(at + 1));
  }
}

function applyCredentials(draft: Draft, text: string): void {
  const at = text.indexOf(":");
  if (text === "") refuse("User name and password, or a token, are missing.");
  if (at < 0) draft.token = text;
  else {
    draft.username = text.slice(0, at);
    draft.password = text.slice(at + 1);
  }
}

/**
 * Reads `iggy://user:password@host:port?key=value` (also `iggy+tcp://`, `iggy+ws://`, `iggy+grpc://`,
 * `iggy+http://`, and `millrace` in place of `iggy`).
 *
 * A credential part without a colon is a personal access token. The port is required, nothing is
 * percent-decoded, an IPv6 literal and an unknown option are refused, and of a repeated option the last
 * counts. Durations read `5s`. No message of an error repeats the string, for it holds a password.
 *
 * @throws CodedError InvalidConnectionString, or FeatureUnavailable for another transport
 */
export function parseConnectionString(text: string): ClientOptions {
  const match = /^(?:iggy|millrace)(?:\+([a-z]+))?:\/\/([^?]*)(?:\?(.*))?$/s.exec(text);
  if (match === null) return refuse("The connection string begins with neither iggy:// nor millrace://.");
  const [, transport, authority = "", query = ""] = match;
  if (transport !== undefined && !isClientTransport(transport)) {
    const message = `The transport ${transport} is not available in this client; use tcp, ws, grpc or http.`;
    throw new CodedError(ErrorCode.FeatureUnavailable, message);
  }
  const at = authority.lastIndexOf("@");
  if (at < 0) return refuse("The part user:password@ is missing.");
  const address = authority.slice(at + 1);
  const port = Number(/^[^:[\]/]+:(\d{1,5})$/.exec(address)?.[1] ?? 0);
  if (port < 1 || port > 65_535) return refuse("What follows @ is not host:port.");
  const draft: Draft = { address, reconnect: {}, tls: { isOn: false } };
  applyCredentials(draft, authority.slice(0, at));
  applyOptions(draft, query);
  const { isOn, ...tls } = draft.tls;
  const { tls: _, ...options } = draft;
  return {
    ...options,
    ...(transport === undefined || transport === "tcp" ? {} : { transport }),
    ...(isOn ? { tls } : {}),
  };
}

/** What the error of a refused login says besides, when name or password look as if they were encoded. */
export function withHintAtDecoding(error: unknown, { username = "", password = "" }: ClientOptions): unknown {
  const looksEncoded = /%[0-9a-f]{2}/i.test(`${username} ${password}`);
  if (!looksEncoded || !isCodedError(error, ErrorCode.InvalidCredentials)) return error;
  const message = `${error.message} Name and password of a connection string are not percent-decoded: a connection string is taken as it stands.`;
  return new CodedError(error.code, message, { details: error.details, cause: error });
}
