import { isIPv6 } from "node:net";
import { CodedError, ErrorCode } from "@millrace/errors";

/** Where a listener binds. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const SHAPE = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/;

/**
 * Host and port of `127.0.0.1:8090`, `localhost:0` or `[::1]:8090`.
 *
 * @throws CodedError InvalidConfiguration that names `key`
 */
export function parseListenAddress(address: string, key: string): ListenAddress {
  const [, bracketed, plain, digits] = SHAPE.exec(address.trim()) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  const isGood = host !== undefined && port <= 65_535 && (bracketed === undefined || isIPv6(bracketed));
  if (isGood) return { host, port };
  throw new CodedError(
    ErrorCode.InvalidConfiguration,
    `The setting ${key} = "${address}" is no address such as "127.0.0.1:8090".`,
    { details: { key } },
  );
}

/** True for addresses that stand for every interface of the machine. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || /^(?:0{0,4}:){2,7}0{0,4}$/.test(host);
}
