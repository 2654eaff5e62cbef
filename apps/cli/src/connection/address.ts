import { InvalidArgumentError } from "commander";

/** A host and a port. */
export interface Address {
  readonly host: string;
  readonly port: number;
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
