import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith } from "../body-codec.ts";

/**
 * What both logins are answered with. `session` is the log position of the registration, above 0: it goes
 * into every later request header.
 */
export interface LoginReply {
  readonly userId: number;
  readonly session: number;
  readonly serverProtocolVersion: number;
  readonly serverVersion: string;
}

/** Shape: user u32, session u64, protocol version u32, server version text. Goes behind a result section. */
export function encodeLoginReply(reply: LoginReply): Uint8Array {
  return encodeWith(writeLoginReply, reply);
}

/** The counterpart of `encodeLoginReply`; throws WireError. */
export function decodeLoginReply(payload: Uint8Array): LoginReply {
  return decodeWith(readLoginReply, payload);
}

function writeLoginReply(writer: ByteWriter, reply: LoginReply): void {
  writer.u32(reply.userId).u64(reply.session).u32(reply.serverProtocolVersion).name(reply.serverVersion);
}

function readLoginReply(reader: ByteReader): LoginReply {
  return {
    userId: reader.u32(),
    session: reader.u64Number(),
    serverProtocolVersion: reader.u32(),
    serverVersion: reader.name(),
  };
}
