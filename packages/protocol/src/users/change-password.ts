import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readText8, writeText8 } from "../body-codec.ts";
import { type Identifier, readIdentifier, writeIdentifier } from "../identifier.ts";

/** Changes a password; the current one is needed even by an administrator. The reply has no payload. */
export interface ChangePassword {
  readonly user: Identifier;
  readonly currentPassword: string;
  readonly newPassword: string;
}

/** Shape: user identifier, current and new password (u8 length each). */
export function encodeChangePassword(body: ChangePassword): Uint8Array {
  return encodeWith(writeChangePassword, body);
}

/** The counterpart of `encodeChangePassword`; throws WireError. */
export function decodeChangePassword(bytes: Uint8Array): ChangePassword {
  return decodeWith(readChangePassword, bytes);
}

function writeChangePassword(writer: ByteWriter, body: ChangePassword): void {
  writeIdentifier(writer, body.user);
  writeText8(writer, body.currentPassword);
  writeText8(writer, body.newPassword);
}

function readChangePassword(reader: ByteReader): ChangePassword {
  return {
    user: readIdentifier(reader),
    currentPassword: readText8(reader),
    newPassword: readText8(reader),
  };
}
