import { type Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "../formats/duration.ts";
import { parseBoolean, wholeNumber } from "../formats/whole-number.ts";
import type { Credentials } from "./credentials.ts";

/** Where the server is and how hard to try reaching it. */
export interface ConnectionOptions {
  readonly transport: "tcp";
  readonly tcpServerAddress: Address;
  readonly tcpReconnectionMaxRetries: number;
  /** Microseconds between two tries. */
  readonly tcpReconnectionInterval: bigint;
  readonly tcpTlsEnabled: boolean;
}

/** A host and a port. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What opening a session takes. */
export interface ConnectionSettings extends ConnectionOptions {
  readonly credentials: Credentials;
}

/** Where a server listens when nothing else is said. */
export const DEFAULT_ADDRESS: Address = { host: "127.0.0.1", port: 8090 };

/** Adds the connection options, which come before the command. */
export function addConnectionOptions(program: Command): void {
  program
    .addOption(new Option("--transport <name>", "how to reach the server").choices(["tcp"]).default("tcp"))
    .addOption(
      new Option("--tcp-server-address <host:port>", "address of the server")
        .argParser(parseAddress)
        .default(DEFAULT_ADDRESS, "127.0.0.1:8090"),
    )
    .addOption(
      new Option("--tcp-reconnection-max-retries <n>", "tries in a row to get a lost connection back")
        .argParser(wholeNumber({ min: 0, max: 1_000_000 }))
        .default(DEFAULT_RETRIES),
    )
    .addOption(
      new Option("--tcp-reconnection-interval <duration>", "pause before another try")
        .argParser(parseDuration)
        .default(DEFAULT_INTERVAL_MICROS, "1s"),
    )
    .addOption(
      new Option("--tcp-tls-enabled [boolean]", "this release speaks TCP without TLS: only false is possible")
        .argParser(parseTls)
        .preset("true")
        .default(false),
    );
}

/** What compatible scripts expect; a server that cannot be reached at all fails the first try already. */
const DEFAULT_RETRIES = 10;
const DEFAULT_INTERVAL_MICROS = 1_000_000n;

function parseTls(text: string): boolean {
  if (!parseBoolean(text)) return false;
  throw new InvalidArgumentError("This release speaks TCP without TLS only.");
}

/**
 * A host and a port, such as `127.0.0.1:8090`, `localhost:8090` or `[::1]:8090`.
 * @throws InvalidArgumentError when it is not
 */
export function parseAddress(text: string): Address {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port };
  throw new InvalidArgumentError("It must have the form HOST:PORT, for example 127.0.0.1:8090.");
}

/** An address as it is typed. */
export function addressText({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
