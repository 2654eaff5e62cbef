import type { ByteReader, ByteWriter } from "@millrace/framing";
import { decodeWith, encodeWith, readText8, writeText8 } from "../body-codec.ts";
import { writeByteName } from "../byte-names.ts";
import { type OptionEntries, readOptionsToEnd, writeOptionsToEnd } from "../options.ts";
import { type Permissions, readOptionalPermissions, writeOptionalPermissions } from "../permissions.ts";
import {
  readUserDetails,
  type UserDetails,
  type UserStatus,
  UserStatusCode,
  writeUserDetails,
} from "./user-record.ts";

/**
 * Creates a user. The password travels as clear text: bounds are checked at the edges, never by this codec.
 */
export interface CreateUser {
  readonly username: string;
  readonly password: string;
  readonly status: UserStatus;
  readonly permissions: Permissions | undefined;
  readonly options: OptionEntries;
}

/** Shape: user name, password (u8 length), status u8, has u8 and permissions block, options to the end. */
export function encodeCreateUser(body: CreateUser): Uint8Array {
  return encodeWith(writeCreateUser, body);
}

/** The counterpart of `encodeCreateUser`; throws WireError. Any status but 2 means active. */
export function decodeCreateUser(bytes: Uint8Array): CreateUser {
  return decodeWith(readCreateUser, bytes);
}

/** The created user. */
export function encodeCreateUserReply(user: UserDetails): Uint8Array {
  return encodeWith(writeUserDetails, user);
}

/** The counterpart of `encodeCreateUserReply`; throws WireError. */
export function decodeCreateUserReply(payload: Uint8Array): UserDetails {
  return decodeWith(readUserDetails, payload);
}

function writeCreateUser(writer: ByteWriter, body: CreateUser): void {
  writer.name(body.username);
  writeText8(writer, body.password);
  writeByteName(writer, UserStatusCode, body.status);
  writeOptionalPermissions(writer, body.permissions);
  writeOptionsToEnd(writer, body.options);
}

function readCreateUser(reader: ByteReader): CreateUser {
  return {
    username: reader.name(),
    password: readText8(reader),
    status: reader.u8() === UserStatusCode.inactive ? "inactive" : "active",
    permissions: readOptionalPermissions(reader),
    options: readOptionsToEnd(reader),
  };
}
