import { ErrorCode } from "@millrace/errors";
import {
  decodeCreateUserReply,
  decodeGetUserReply,
  decodeGetUsersReply,
  encodeChangePassword,
  encodeCreateUser,
  encodeDeleteUser,
  encodeGetUser,
  encodeUpdatePermissions,
  encodeUpdateUser,
  NO_OPTIONS,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  toIdentifier,
  USERNAME_LENGTH_MAX,
  USERNAME_LENGTH_MIN,
  type UserDetails as UserDetailsRecord,
  type UserRecord,
  type UserStatus,
} from "@millrace/protocol";
import { nothing } from "../connection/requester.ts";
import { checkLength } from "./check-length.ts";
import { OffsetCalls } from "./offset-calls.ts";
import {
  type NewPermissions,
  permissionsOf,
  type UserPermissions,
  userPermissionsOf,
} from "./permission-shapes.ts";
import type { Name } from "./stream-calls.ts";

/** A user. An inactive one cannot log in. */
export interface User {
  readonly id: number;
  readonly username: string;
  /** Micros since 1970. */
  readonly createdAt: bigint;
  readonly status: UserStatus;
}

/** A user with permissions; undefined for root, who may do everything, and for who was never given any. */
export interface UserDetails extends User {
  readonly permissions: UserPermissions | undefined;
}

/** A user to create. */
export interface NewUser {
  /** 3 to 50 bytes. */
  readonly username: string;
  /** 3 to 100 bytes. */
  readonly password: string;
  /** Default `"active"`. */
  readonly status?: UserStatus;
  /** Without any a user can only look after his own account, password and tokens. */
  readonly permissions?: NewPermissions;
}

/** What changes of a user; what is left out stays. */
export interface UserUpdate {
  readonly username?: string;
  readonly status?: UserStatus;
}

function checkUsername(username: string): void {
  const bounds = { min: USERNAME_LENGTH_MIN, max: USERNAME_LENGTH_MAX, code: ErrorCode.InvalidUsername };
  checkLength("A user name", username, bounds);
}

function checkPassword(password: string): void {
  const bounds = { min: PASSWORD_LENGTH_MIN, max: PASSWORD_LENGTH_MAX, code: ErrorCode.InvalidPassword };
  checkLength("A password", password, bounds);
}

function userOf({ id, username, createdAt, status }: UserRecord): User {
  return { id, username, createdAt: BigInt(createdAt), status };
}

function userDetailsOf(record: UserDetailsRecord): UserDetails {
  const { permissions } = record;
  return { ...userOf(record), permissions: permissions && userPermissionsOf(permissions) };
}

function newUserBody({ username, password, status = "active", permissions }: NewUser): Uint8Array {
  checkUsername(username);
  checkPassword(password);
  const asked = permissions && permissionsOf(permissions);
  return encodeCreateUser({ username, password, status, permissions: asked, options: NO_OPTIONS });
}

/** Calls about users. A number names a user by id, text by name. */
export class UserCalls extends OffsetCalls {
  /** Creates a user. Throws InvalidUsername, InvalidPassword, UserAlreadyExists. */
  createUser(user: NewUser): Promise<UserDetails> {
    return this.request({
      command: "CreateUser",
      body: () => newUserBody(user),
      decode: (payload) => userDetailsOf(decodeCreateUserReply(payload)),
    });
  }

  /** One user with permissions, or undefined when there is none. One's own account needs no permission. */
  getUser(user: Name): Promise<UserDetails | undefined> {
    return this.request({
      command: "GetUser",
      body: () => encodeGetUser({ user: toIdentifier(user) }),
      decode: (payload) => {
        const record = decodeGetUserReply(payload);
        return record === undefined ? undefined : userDetailsOf(record);
      },
    });
  }

  /** All users, sorted by id. */
  getUsers(): Promise<readonly User[]> {
    return this.request({
      command: "GetUsers",
      decode: (payload) => decodeGetUsersReply(payload).map(userOf),
    });
  }

  /** Renames a user or changes the status. Throws ResourceNotFound, InvalidUsername, UserAlreadyExists. */
  updateUser(user: Name, update: UserUpdate): Promise<void> {
    const body = () => {
      const { username, status } = update;
      if (username !== undefined) checkUsername(username);
      return encodeUpdateUser({ user: toIdentifier(user), username, status, options: NO_OPTIONS });
    };
    return this.request({ command: "UpdateUser", body, decode: nothing });
  }

  /** Deletes a user, his tokens and his sessions. Throws ResourceNotFound, CannotDeleteUser for root. */
  deleteUser(user: Name): Promise<void> {
    const body = () => encodeDeleteUser({ user: toIdentifier(user) });
    return this.request({ command: "DeleteUser", body, decode: nothing });
  }

  /**
   * Replaces everything a user may do; undefined takes it all away. Counts from his next request on. Throws
   * ResourceNotFound, CannotChangePermissions for root.
   */
  updatePermissions(user: Name, permissions: NewPermissions | undefined): Promise<void> {
    const body = () => {
      const asked = permissions && permissionsOf(permissions);
      return encodeUpdatePermissions({ user: toIdentifier(user), permissions: asked });
    };
    return this.request({ command: "UpdatePermissions", body, decode: nothing });
  }

  /** Changes a password. Throws InvalidPassword, and InvalidCredentials when the current one is wrong. */
  changePassword(
    user: Name,
    passwords: { readonly currentPassword: string; readonly newPassword: string },
  ): Promise<void> {
    const body = () => {
      checkPassword(passwords.newPassword);
      return encodeChangePassword({ user: toIdentifier(user), ...passwords });
    };
    return this.request({ command: "ChangePassword", body, decode: nothing });
  }
}
