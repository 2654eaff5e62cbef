import { randomBytes } from "node:crypto";
import type { Metadata } from "@grpc/grpc-js";
import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeRequestHeader, HEADER_LENGTH, WireCommand } from "@millrace/framing";
import {
  CommandCode,
  encodeLoginRegister,
  encodeLoginRegisterWithPat,
  Operation,
  PROTOCOL_VERSION,
} from "@millrace/protocol";
import { isLoopback } from "../loopback.ts";

/** How the server shows a client that logged in by call credentials. */
const LOGIN = { protocolVersion: PROTOCOL_VERSION, sdkName: "grpc", sdkVersion: "1", context: "" };

/** Bytes of a client's id. */
const CLIENT_ID_LENGTH = 16;

/** Who a call says it is. */
export type CallCredentials =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "password"; readonly username: string; readonly password: string };

/**
 * The credentials in a call's metadata `authorization`: `Bearer TOKEN`, or `Basic` and the base64 of
 * `user:password`. Undefined when there are none.
 *
 * @throws CodedError InvalidFormat for anything else; the text does not repeat it
 */
export function callCredentials(metadata: Metadata): CallCredentials | undefined {
  const given = metadata.get("authorization");
  const [first] = given;
  if (first === undefined) return undefined;
  const [, scheme, value = ""] = /^(bearer|basic) +(\S+)$/i.exec(String(first)) ?? [];
  if (given.length === 1 && scheme?.toLowerCase() === "bearer") return { kind: "token", token: value };
  const [, username, password] = /^([^:]+):(.+)$/s.exec(Buffer.from(value, "base64").toString()) ?? [];
  if (given.length > 1 || scheme === undefined || username === undefined || password === undefined) {
    const text = "authorization is neither Bearer and a token nor Basic and the base64 of user:password.";
    throw new CodedError(ErrorCode.InvalidFormat, text);
  }
  return { kind: "password", username, password };
}

/** The token of a unary call. @throws CodedError Unauthenticated when there is none; as `callCredentials` */
export function bearerOf(metadata: Metadata): string {
  const credentials = callCredentials(metadata);
  if (credentials?.kind === "token") return credentials.token;
  const text =
    "A call needs the metadata authorization: Bearer and a personal access token, or what Login gave.";
  throw new CodedError(ErrorCode.Unauthenticated, text);
}

/** @throws CodedError Unauthenticated for credentials that came in clear, and not from this machine */
export function checkPrivacy(remoteAddress: string): void {
  if (isLoopback(remoteAddress)) return;
  const text =
    "Credentials came over a connection that is not encrypted; use TLS (setting grpc.tls.enabled).";
  throw new CodedError(ErrorCode.Unauthenticated, text);
}

/** The login message that a client with these credentials sends, with a client id made up for it. */
export function loginMessage(credentials: CallCredentials): Uint8Array {
  const body =
    credentials.kind === "token"
      ? encodeLoginRegisterWithPat({ ...LOGIN, token: credentials.token })
      : encodeLoginRegister({ ...LOGIN, username: credentials.username, password: credentials.password });
  const message = new Uint8Array(HEADER_LENGTH + body.length);
  encodeRequestHeader(message, {
    length: message.length,
    command: WireCommand.request,
    client: BigInt(`0x${randomBytes(CLIENT_ID_LENGTH).toString("hex")}`),
    operation: Operation.Register,
    code: CommandCode.LoginRegister,
  });
  message.set(body, HEADER_LENGTH);
  return message;
}
