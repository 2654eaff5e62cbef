import type { Permissions, TokenRecord, UserDetails, UserRecord } from "@millrace/protocol";
import type { JsonValue } from "../json/write-json.ts";
import { optionsJson } from "./option-json.ts";
import { permissionsJson } from "./permissions-json.ts";

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
  return { ...userJson(user), permissions: optional(user.permissions) };
}

/** PersonalAccessTokenInfo. */
export function tokenJson({ name, expiryAt }: TokenRecord): JsonValue {
  return { name, expiry_at: expiryAt === 0n ? null : expiryAt };
}

function optional(permissions: Permissions | undefined): JsonValue {
  return permissions === undefined ? null : permissionsJson(permissions);
}
