import { type ByteReader, type ByteWriter, WireError } from "@millrace/framing";
import { readOptionalPermissions, writeOptionalPermissions } from "@millrace/protocol";
import type { User } from "../catalog/user.ts";
import { readMembers } from "./read-members.ts";
import type { Section } from "./section.ts";

/**
 * Users by ascending id. Shape: count u32, then per user: id u32, created u64, status u8 (1, 2), name,
 * password hash u32 length + text, permissions u8 (0, 1) and, with 1, u32 length + permissions.
 */
export const usersSection: Section = {
  id: 1,
  version: 1,
  write(writer, { users }) {
    writer.u32(users.size);
    for (const user of users.list()) writeUser(writer, user);
  },
  read(reader, { users }) {
    readMembers(reader, readUser, users);
  },
};

function writeUser(writer: ByteWriter, user: User): void {
  writer.u32(user.id).u64(user.createdAt).u8(user.status).name(user.name).str32(user.passwordHash);
  writeOptionalPermissions(writer, user.permissions);
}

function readUser(reader: ByteReader): User {
  return {
    id: reader.u32(),
    createdAt: reader.u64Number(),
    status: readStatus(reader),
    name: reader.name(),
    passwordHash: reader.str32(),
    permissions: readOptionalPermissions(reader),
  };
}

function readStatus(reader: ByteReader): 1 | 2 {
  const position = reader.position;
  const status = reader.u8();
  if (status === 1 || status === 2) return status;
  throw new WireError("bad_value", position);
}
