import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readText8, writeText8 } from "../body-codec.ts";
import { readLoginContext, writeLoginContext } from "./login-context.ts";
import { readVersionPrefix, type VersionPrefix, writeVersionPrefix } from "./version-prefix.ts";

/** Logs in with a personal access token. `context` is free text for diagnostics, empty when there is none. */
export interface LoginRegisterWithPat extends VersionPrefix {
  readonly token: string;
  readonly context: string;
}

/** Shape: version prefix, token (u8 length), context (u32 length). */
export function encodeLoginRegisterWithPat(body: LoginRegisterWithPat): Uint8Array {
  return encodeWith(writeLoginRegisterWithPat, body);
}

/** The counterpart of `encodeLoginRegisterWithPat`; throws WireError. */
export function decodeLoginRegisterWithPat(bytes: Uint8Array): LoginRegisterWithPat {
  return decodeWith(readLoginRegisterWithPat, bytes);
}

function writeLoginRegisterWithPat(writer: ByteWriter, body: LoginRegisterWithPat): void {
  writeVersionPrefix(writer, body);
  writeText8(writer, body.token);
  writeLoginContext(writer, body.context);
}

function readLoginRegisterWithPat(reader: ByteReader): LoginRegisterWithPat {
  return { ...readVersionPrefix(reader), token: readText8(reader), context: readLoginContext(reader) };
}
