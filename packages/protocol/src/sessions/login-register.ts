import { ByteReader, type ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readText8, writeText8 } from "../body-codec.ts";
import { readLoginContext, writeLoginContext } from "./login-context.ts";
import { readVersionPrefix, type VersionPrefix, writeVersionPrefix } from "./version-prefix.ts";

/** Logs in with name and password. `context` is free text for diagnostics, empty when there is none. */
export interface LoginRegister extends VersionPrefix {
  readonly username: string;
  readonly password: string;
  readonly context: string;
}

/** Shape: version prefix, user name, password (u8 length), context (u32 length). */
export function encodeLoginRegister(body: LoginRegister): Uint8Array {
  return encodeWith(writeLoginRegister, body);
}

/**
 * The counterpart of `encodeLoginRegister`; throws WireError.
 *
 * Both login bodies share operation Register and tell nobody which they are: a server tries this one first,
 * then `decodeLoginRegisterWithPat`.
 */
export function decodeLoginRegister(bytes: Uint8Array): LoginRegister {
  return decodeWith(readLoginRegister, bytes);
}

/** The version prefix of either login body, whatever follows; throws WireError. */
export function decodeVersionPrefix(bytes: Uint8Array): VersionPrefix {
  return readVersionPrefix(new ByteReader(bytes));
}

function writeLoginRegister(writer: ByteWriter, body: LoginRegister): void {
  writeVersionPrefix(writer, body);
  writer.name(body.username);
  writeText8(writer, body.password);
  writeLoginContext(writer, body.context);
}

function readLoginRegister(reader: ByteReader): LoginRegister {
  return {
    ...readVersionPrefix(reader),
    username: reader.name(),
    password: readText8(reader),
    context: readLoginContext(reader),
  };
}
