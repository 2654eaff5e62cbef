import type { ByteReader, ByteWriter } from "@millrace/framing";
import { readPresence } from "../body-codec.ts";
import { readByteName, writeByteName } from "../byte-names.ts";
import { type OptionEntries, readOptionsBlock, writeOptionsBlock } from "../options.ts";
import { type Permissions, readPermissionsBlock, writePermissionsBlock } from "../permissions.ts";

/** Statuses of a user, by their byte. An inactive user cannot log in. */
export const UserStatusCode = { active: 1, inactive: 2 } as const;

/** Status of a user. */
export type UserStatus = keyof typeof UserStatusCode;

/** A user as replies show it; `createdAt` is micros. */
export interface UserRecord {
  readonly id: number;
  readonly createdAt: number;
  readonly status: UserStatus;
  readonly username: string;
  readonly options: OptionEntries;
}

/** A user with permissions; undefined means that none were ever given. */
export interface UserDetails extends UserRecord {
  readonly permissions: Permissions | undefined;
}

/** Length in the zero bytes of a user without permissions: clients of the reference read all of them. */
const ABSENT_LENGTH = 3;

/** Shape: id u32, created u64, status u8, user name, options block. Section 8.5. */
export function writeUserRecord(writer: ByteWriter, user: UserRecord): void {
  writer.u32(user.id).u64(user.createdAt);
  writeByteName(writer, UserStatusCode, user.status);
  writer.name(user.username);
  writeOptionsBlock(writer, user.options);
}

/** The counterpart of `writeUserRecord`. */
export function readUserRecord(reader: ByteReader): UserRecord {
  return {
    id: reader.u32(),
    createdAt: reader.u64Number(),
    status: readByteName(reader, UserStatusCode),
    username: reader.name(),
    options: readOptionsBlock(reader),
  };
}

/** Shape: the record, then 1 and the permissions behind their length, or 4 zero bytes. */
export function writeUserDetails(writer: ByteWriter, user: UserDetails): void {
  writeUserRecord(writer, user);
  if (user.permissions === undefined) writer.zero(1 + ABSENT_LENGTH);
  else writePermissionsBlock(writer.u8(1), user.permissions);
}

/** The counterpart of `writeUserDetails`. */
export function readUserDetails(reader: ByteReader): UserDetails {
  const user = readUserRecord(reader);
  if (readPresence(reader)) return { ...user, permissions: readPermissionsBlock(reader) };
  reader.skip(ABSENT_LENGTH);
  return { ...user, permissions: undefined };
}
