import type { ByteReader, ByteWriter } from "@millrace/framing";
import { readOptionalPermissions, writeOptionalPermissions } from "@millrace/protocol";
import type { Token } from "../catalog/token.ts";
import type { User } from "../catalog/user.ts";
import { readDigest } from "../tokens/create-token-op.ts";
import { readUserStatus } from "../users/create-user-op.ts";
import { readMembers } from "./read-members.ts";
import type { Section } from "./section.ts";

/**
 * Users by ascending id. Shape: count u32, then per user: id u32, created u64, status u8 (1, 2), name,
 * password hash u32 length + text, permissions u8 (0, 1) and, with 1, u32 length + permissions; since version
 * 2 also revision u64, tokens u32 count, per token: name, digest, expiry u64.
 */
export const usersSection: Section = {
  id: 1,
  version: 2,
  write(writer, { users }) {
    writer.u32(users.size);
    for (const user of users.list()) writeUser(writer, user);
  },
  read(reader, { users }, version) {
    readMembers(reader, version === 1 ? readUserBeforeTokens : readUser, users);
  },
};

function writeUser(writer: ByteWriter, user: User): void {
  writer.u32(user.id).u64(user.createdAt).u8(user.status).name(user.name).str32(user.passwordHash);
  writeOptionalPermissions(writer, user.permissions);
  writer.u64(user.revision).u32(user.tokens.length);
  for (const { name, digest, expiryAt } of user.tokens) writer.name(name).name(digest).u64(expiryAt);
}

function readUser(reader: ByteReader): User {
  return { ...readUserBeforeTokens(reader), revision: reader.u64Number(), tokens: readTokens(reader) };
}

function readUserBeforeTokens(reader: ByteReader): User {
  return {
    id: reader.u32(),
    createdAt: reader.u64Number(),
    status: readUserStatus(reader),
    name: reader.name(),
    passwordHash: reader.str32(),
    permissions: readOptionalPermissions(reader),
    revision: 0,
    tokens: [],
  };
}

function readTokens(reader: ByteReader): Token[] {
  const tokens: Token[] = [];
  for (let left = reader.u32(); left > 0; left -= 1) {
    tokens.push({ name: reader.name(), digest: readDigest(reader), expiryAt: reader.u64() });
  }
  return tokens;
}
