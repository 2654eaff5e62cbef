import { type User, UserStatus } from "@millrace/metadata";
import { NO_OPTIONS, type UserDetails } from "@millrace/protocol";

/** A user as replies show him; the hash of the password is nobody's business. */
export function userDetails({ id, createdAt, status, name, permissions }: User): UserDetails {
  return {
    id,
    createdAt,
    status: status === UserStatus.active ? "active" : "inactive",
    username: name,
    options: NO_OPTIONS,
    permissions,
  };
}
