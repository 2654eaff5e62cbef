import { InvalidArgumentError } from "commander";
import { parseDuration } from "../formats/duration.ts";
import { parseBoolean, parseU32, wholeNumber } from "../formats/whole-number.ts";
import { parseAddress } from "./address.ts";
import { parseApiUrl } from "./http-target.ts";
import { parseEncryptionKey } from "./payload-cipher.ts";

/** One connection option: on the command line, in a context, and for some in the environment. */
export interface ConnectionOptionRow {
  /** Without dashes in front: `tcp-server-address`. */
  readonly flag: string;
  readonly argument: string;
  readonly summary: string;
  /** What holds when nobody says, for help texts; the target knows the value. */
  readonly standard?: string;
  /** Refuses a text that is no value. @throws InvalidArgumentError */
  readonly check: (text: string) => unknown;
  /** Values to choose from. */
  readonly choices?: readonly string[];
  /** Accepted for compatible scripts; not told in the help of every command. */
  readonly isHidden?: true;
}

const parseRetries = wholeNumber({ min: 0, max: 1_000_000 });
const DURATION = "<duration>";
const FLAG = "[boolean]";

function retries(text: string): unknown {
  return text === "unlimited" ? text : parseRetries(text);
}

function anything(text: string): unknown {
  if (text !== "") return text;
  throw new InvalidArgumentError("It must not be empty.");
}

/** The options of one transport that has TLS and reconnects. */
function transportRows(prefix: "tcp" | "websocket", name: string, standard: string): ConnectionOptionRow[] {
  return [
    { flag: `${prefix}-server-address`, argument: "<host:port>", summary: `address of the server (${name})`, standard, check: parseAddress },
    { flag: `${prefix}-reconnection-max-retries`, argument: "<n>", summary: "tries in a row to get a lost connection back, or unlimited", standard: "10", check: retries },
    { flag: `${prefix}-reconnection-interval`, argument: DURATION, summary: "pause before another try", standard: "1s", check: parseDuration },
    { flag: `${prefix}-tls-enabled`, argument: FLAG, summary: `encrypt the connection (${name})`, standard: "false", check: parseBoolean },
    ...tlsRows(prefix),
  ];
}

/** How a server's certificate is checked. */
function tlsRows(prefix: "tcp" | "websocket" | "http"): ConnectionOptionRow[] {
  return [
    { flag: `${prefix}-tls-domain`, argument: "<name>", summary: "name the certificate must be for", standard: "the host of the address", check: anything },
    { flag: `${prefix}-tls-ca-file`, argument: "<file>", summary: "PEM file of the authorities to trust in place of the system's", check: anything },
    { flag: `${prefix}-tls-validate-certificate`, argument: FLAG, summary: "false accepts any certificate, so that whoever is in between can read", standard: "true", check: parseBoolean },
  ];
}

/** Options of QUIC, which needs a runtime that has it: checked, kept in contexts, refused when it is chosen. */
const QUIC_ROWS: readonly ConnectionOptionRow[] = [
  ...(["client-address", "server-address"] as const).map((name) => ({ flag: `quic-${name}`, argument: "<host:port>", check: anything })),
  { flag: "quic-server-name", argument: "<name>", check: anything },
  { flag: "quic-reconnection-max-retries", argument: "<n>", check: retries },
  { flag: "quic-reconnection-interval", argument: DURATION, check: parseDuration },
  ...(
    ["max-concurrent-bidi-streams", "datagram-send-buffer-size", "initial-mtu", "send-window", "receive-window",
      "response-buffer-size", "keep-alive-interval", "max-idle-timeout"] as const
  ).map((name) => ({ flag: `quic-${name}`, argument: "<n>", check: parseU32 })),
  { flag: "quic-validate-certificate", argument: FLAG, check: parseBoolean },
].map((row) => ({ ...row, summary: "accepted for compatible scripts; this release has no QUIC", isHidden: true }));

/** Every connection option, as the reference names them, and those of ours that it lacks. */
export const CONNECTION_OPTIONS: readonly ConnectionOptionRow[] = [
  { flag: "transport", argument: "<name>", summary: "how to reach the server; quic is not in this release", standard: "tcp", check: anything, choices: ["tcp", "ws", "websocket", "http", "quic"] },
  { flag: "connection-string", argument: "<string>", summary: "address, credentials and options in one: millrace://USER:PASSWORD@HOST:PORT?tls=true", check: anything },
  { flag: "encryption-key", argument: "<base64>", summary: "encrypt and decrypt payloads here with AES-256-GCM; 32 bytes in base64", check: parseEncryptionKey },
  ...transportRows("tcp", "TCP", "127.0.0.1:8090"),
  ...transportRows("websocket", "WebSocket", "127.0.0.1:8092"),
  { flag: "http-api-url", argument: "<url>", summary: "address of the HTTP API; https:// encrypts", standard: "http://localhost:3000", check: parseApiUrl },
  { flag: "http-retries", argument: "<n>", summary: "tries in a row to reach the HTTP API again, or unlimited", standard: "3", check: retries },
  ...tlsRows("http"),
  ...QUIC_ROWS,
];
