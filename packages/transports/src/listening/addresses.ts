import { CodedError, ErrorCode } from "@millrace/errors";
import { systemCode } from "../connection-lost.ts";

/** A host and port. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** `host:port`, an IPv6 host in brackets. */
export function addressText({ host, port }: Address): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** `host:port` of a socket's peer. */
export function peerText(socket: {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}): string {
  return addressText({ host: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 });
}

/** CannotBindToSocket with host, port and cause. */
export function cannotBind({ host, port }: Address, cause: Error): CodedError {
  const reason = systemCode(cause) || cause.message;
  const text = `Cannot listen on ${addressText({ host, port })} (${reason}): is the port taken, the address ours?`;
  return new CodedError(ErrorCode.CannotBindToSocket, text, { details: { host, port }, cause });
}
