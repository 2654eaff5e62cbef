import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readPresence } from "../body-codec.ts";
import { writeByteName } from "../byte-names.ts";
import { type Identifier, readIdentifier, writeIdentifier } from "../identifier.ts";
import { type OptionEntries, readOptionsToEnd, writeOptionsToEnd } from "../options.ts";
import { type UserStatus, UserStatusCode } from "./user-record.ts";

/** Changes name or status of a user; undefined leaves it. The reply has no payload. */
export interface UpdateUser {
  readonly user: Identifier;
  readonly username: string | undefined;
  readonly status: UserStatus | undefined;
  readonly options: OptionEntries;
}

/** Shape: user identifier, has u8 and user name, has u8 and status u8, options to the end. */
export function encodeUpdateUser(body: UpdateUser): Uint8Array {
  return encodeWith(writeUpdateUser, body);
}

/** The counterpart of `encodeUpdateUser`; throws WireError. A status other than 1 and 2 changes nothing. */
export function decodeUpdateUser(bytes: Uint8Array): UpdateUser {
  return decodeWith(readUpdateUser, bytes);
}

function writeUpdateUser(writer: ByteWriter, body: UpdateUser): void {
  writeIdentifier(writer, body.user);
  if (body.username === undefined) writer.u8(0);
  else writer.u8(1).name(body.username);
  if (body.status === undefined) writer.u8(0);
  else writeByteName(writer.u8(1), UserStatusCode, body.status);
  writeOptionsToEnd(writer, body.options);
}

function readUpdateUser(reader: ByteReader): UpdateUser {
  return {
    user: readIdentifier(reader),
    username: readPresence(reader) ? reader.name() : undefined,
    status: readPresence(reader) ? statusOf(reader.u8()) : undefined,
    options: readOptionsToEnd(reader),
  };
}

function statusOf(byte: number): UserStatus | undefined {
  if (byte === UserStatusCode.active) return "active";
  return byte === UserStatusCode.inactive ? "inactive" : undefined;
}
