import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";

/**
 * Asks for what a node knows of its cluster, with the credentials of a login and without one: a login has to
 * be agreed on by a majority of the nodes. A command of our own: servers of others do not know it.
 */
export interface ReadWithoutLogin {
  /** Body of a LoginRegister or LoginRegisterWithPat: says who asks. */
  readonly login: Uint8Array;
  /** Code of the read: GetClusterMetadata or GetClusterGroups. */
  readonly code: number;
  /** Body of the read. */
  readonly body: Uint8Array;
}

/**
 * Shape: login (u32 length), code u32, body (u32 length). The reply is that of the read.
 */
export function encodeReadWithoutLogin(asked: ReadWithoutLogin): Uint8Array {
  return encodeWith(writeAsked, asked);
}

/** The counterpart of `encodeReadWithoutLogin`; throws WireError. Its byte fields are views. */
export function decodeReadWithoutLogin(bytes: Uint8Array): ReadWithoutLogin {
  return decodeWith(readAsked, bytes);
}

function writeAsked(writer: ByteWriter, { login, code, body }: ReadWithoutLogin): void {
  writer.bytes32(login).u32(code).bytes32(body);
}

function readAsked(reader: ByteReader): ReadWithoutLogin {
  return { login: reader.bytes32(), code: reader.u32(), body: reader.bytes32() };
}
