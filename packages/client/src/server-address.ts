import { CodedError, ErrorCode } from "@millrace/errors";

/** Where one server listens. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/** What may carry a client's connection. */
export type ClientTransport = "tcp" | "ws" | "grpc" | "http";

/** Port of a server's listener when nobody says otherwise, by transport. */
const DEFAULT_PORTS: Readonly<Record<ClientTransport, number>> = {
  tcp: 8090,
  ws: 8092,
  grpc: 8093,
  http: 3000,
};

const LOOPBACK = new Set(["localhost", "::1", "127.0.0.1", "0:0:0:0:0:0:0:1"]);

/**
 * Reads `host:port`; a missing port is the transport's, 8090 for TCP. An IPv6 literal stands in brackets.
 *
 * @throws CodedError InvalidServerAddress when the host is empty or the port is not within 1..=65535
 */
export function parseServerAddress(text: string, transport: ClientTransport = "tcp"): ServerAddress {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text.trim());
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? DEFAULT_PORTS[transport] : Number(match[3]);
  if (host === undefined || port < 1 || port > 65_535) {
    throw new CodedError(
      ErrorCode.InvalidServerAddress,
      `"${text}" is not a server address; write host:port, for example 127.0.0.1:${DEFAULT_PORTS[transport]}.`,
    );
  }
  return { host, port };
}

/** Port of a transport when nobody says otherwise. */
export function defaultPortOf(transport: ClientTransport): number {
  return DEFAULT_PORTS[transport];
}

/** True for the names of transports this client has. */
export function isClientTransport(name: string): name is ClientTransport {
  return Object.hasOwn(DEFAULT_PORTS, name);
}

/** The address as `host:port`, an IPv6 literal in brackets. */
export function formatServerAddress(address: ServerAddress): string {
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  return `${host}:${address.port}`;
}

/** True when both lead to the same listener; the forms of the loopback address count as one. */
export function isSameServer(one: ServerAddress, other: ServerAddress): boolean {
  const hostOf = (address: ServerAddress) =>
    LOOPBACK.has(address.host.toLowerCase()) ? "127.0.0.1" : address.host.toLowerCase();
  return one.port === other.port && hostOf(one) === hostOf(other);
}
