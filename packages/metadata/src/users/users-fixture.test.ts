// Makes users and tokens the way the log carries them. Holds no test itself.
import {
  encodeUpdatePermissions,
  encodeUpdateUser,
  type GlobalPermissions,
  type Permissions,
  toIdentifier,
  type UpdateUser,
} from "@millrace/protocol";
import type { ApplyResult } from "../committed-op.ts";
import type { Driver } from "../driver.test.ts";
import { MetadataOperation } from "../operation.table.ts";
import { encodeCreateTokenOp } from "../tokens/create-token-op.ts";
import { encodeCreateUserOp } from "./create-user-op.ts";

const NONE: GlobalPermissions = {
  manageServers: false,
  readServers: false,
  manageUsers: false,
  readUsers: false,
  manageStreams: false,
  readStreams: false,
  manageTopics: false,
  readTopics: false,
  pollMessages: false,
  sendMessages: false,
};

export const MANAGER: Permissions = { global: { ...NONE, manageUsers: true }, streams: new Map() };
export const READER: Permissions = { global: { ...NONE, readUsers: true }, streams: new Map() };

export function createUser(
  driver: Driver,
  name: string,
  permissions?: Permissions,
  { status = 1, by = 0 }: { status?: 1 | 2; by?: number } = {},
): ApplyResult {
  const body = encodeCreateUserOp({ name, passwordHash: `$hash$${name}`, status, permissions });
  return driver.applyOp(MetadataOperation.createUser, body, by);
}

export function updateUser(
  driver: Driver,
  user: string | number,
  change: Partial<UpdateUser>,
  by = 0,
): ApplyResult {
  const body = encodeUpdateUser({
    user: toIdentifier(user),
    username: undefined,
    status: undefined,
    options: [],
    ...change,
  });
  return driver.request(MetadataOperation.updateUser, body, by);
}

export function updatePermissions(
  driver: Driver,
  user: string | number,
  permissions: Permissions | undefined,
  by = 0,
): ApplyResult {
  const body = encodeUpdatePermissions({ user: toIdentifier(user), permissions });
  return driver.request(MetadataOperation.updatePermissions, body, by);
}

/** A digest for each small number. */
export const digestOf = (number: number) => number.toString(16).padStart(64, "0");

export function createToken(
  driver: Driver,
  token: { readonly name: string; readonly number: number; readonly expiryMicros?: bigint },
  by = 0,
): ApplyResult {
  const { name, number, expiryMicros = 0n } = token;
  const body = encodeCreateTokenOp({ name, digest: digestOf(number), expiryMicros });
  return driver.applyOp(MetadataOperation.createPersonalAccessToken, body, by);
}
