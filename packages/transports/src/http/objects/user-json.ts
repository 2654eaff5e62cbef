import type { Permissions, TokenRecord, UserDetails, UserRecord } from "@millrace/protocol";
import type { Fields } from "../json/fields.ts";
import type { JsonValue } from "../json/write-json.ts";
import { optionsJson, readOptions } from "./option-json.ts";
import { permissionsJson, readPermissions } from "./permissions-json.ts";

/** Words for the status of a user, in requests and answers. */
export const USER_STATUSES = { active: "active", inactive: "inactive" } as const;

/** UserInfo. */
export function userJson(user: UserRecord): { readonly [name: string]: JsonValue } {
  return {
    id: user.id,
    created_at: user.createdAt,
    status: user.status,
    username: user.username,
    options: optionsJson(user.options),
  };
}

/** UserInfoDetails. */
export function userDetailsJson(user: UserDetails): JsonValue {
  return { ...userJson(user), permissions: optionalPermissionsJson(user.permissions) };
}

/** PersonalAccessTokenInfo. */
export function tokenJson({ name, expiryAt }: TokenRecord): JsonValue {
  return { name, expiry_at: expiryAt === 0n ? null : expiryAt };
}

/** Permissions, or null for none. */
export function optionalPermissionsJson(permissions: Permissions | undefined): JsonValue {
  return permissions === undefined ? null : permissionsJson(permissions);
}

/** The counterpart of `userJson`. */
export function readUserJson(fields: Fields): UserRecord {
  return {
    id: fields.u32("id"),
    createdAt: fields.count("created_at"),
    status: fields.choice("status", USER_STATUSES),
    username: fields.text("username"),
    options: readOptions(fields).explicit,
  };
}

/** The counterpart of `userDetailsJson`. */
export function readUserDetailsJson(fields: Fields): UserDetails {
  const permissions = fields.has("permissions") ? readPermissions(fields.object("permissions")) : undefined;
  return { ...readUserJson(fields), permissions };
}

/** The counterpart of `tokenJson`. */
export function readTokenJson(fields: Fields): TokenRecord {
  return { name: fields.text("name"), expiryAt: fields.u64("expiry_at", 0n) };
}
