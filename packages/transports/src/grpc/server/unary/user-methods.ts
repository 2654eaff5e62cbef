import { CodedError, ErrorCode } from "@millrace/errors";
import {
  checkName,
  decodeBody,
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
  type UserStatus,
} from "@millrace/protocol";
import { Millrace, UserStatus as ProtoStatus } from "./millrace-proto.table.ts";
import { permissionsMessage, permissionsOf } from "./permission-messages.ts";
import { userMessage } from "./proto-objects.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";
import { userOf } from "./wire-values.ts";

const { method } = Millrace;

const STATUSES: ReadonlyMap<number, UserStatus> = new Map([
  [ProtoStatus.ACTIVE, "active"],
  [ProtoStatus.INACTIVE, "inactive"],
]);

/** Users and their permissions. */
export const userMethods: readonly UnaryMethod[] = [
  unaryMethod(method.createUser, async (call, { username, password, status, permissions }) => {
    checkName(username, ErrorCode.InvalidUsername);
    const user = {
      username,
      password,
      status: statusOf(status) ?? "active",
      permissions: permissionsOf(permissions),
      options: NO_OPTIONS,
    };
    const made = decodeBody(decodeCreateUserReply, await ask(call, "CreateUser", encodeCreateUser, user));
    return { user: userMessage(made), ...permissionsMessage(made.permissions) };
  }),
  unaryMethod(method.getUser, async (call, request) => {
    const user = decodeBody(decodeGetUserReply, await ask(call, "GetUser", encodeGetUser, userOf(request)));
    if (user === undefined) throw new CodedError(ErrorCode.ResourceNotFound, "There is no such user.");
    return { user: userMessage(user), ...permissionsMessage(user.permissions) };
  }),
  unaryMethod(method.listUsers, async (call) => ({
    users: decodeBody(decodeGetUsersReply, await ask(call, "GetUsers")).map(userMessage),
  })),
  unaryMethod(method.updateUser, async (call, request) => {
    const { username } = request;
    if (username !== undefined) checkName(username, ErrorCode.InvalidUsername);
    const status = statusOf(request.status);
    const update = { ...userOf(request), username, status, options: NO_OPTIONS };
    await ask(call, "UpdateUser", encodeUpdateUser, update);
    return {};
  }),
  unaryMethod(method.changePassword, async (call, request) => {
    const { currentPassword, newPassword } = request;
    const change = { ...userOf(request), currentPassword, newPassword };
    await ask(call, "ChangePassword", encodeChangePassword, change);
    return {};
  }),
  unaryMethod(method.updatePermissions, async (call, request) => {
    const update = { ...userOf(request), permissions: permissionsOf(request.permissions) };
    await ask(call, "UpdatePermissions", encodeUpdatePermissions, update);
    return {};
  }),
  unaryMethod(method.deleteUser, async (call, request) => {
    await ask(call, "DeleteUser", encodeDeleteUser, userOf(request));
    return {};
  }),
];

/** Undefined when it is left out. @throws CodedError InvalidUserStatus for a number that stands for none */
function statusOf(status: ProtoStatus | number): UserStatus | undefined {
  const known = STATUSES.get(status);
  if (known !== undefined || status === ProtoStatus.UNSPECIFIED) return known;
  throw new CodedError(ErrorCode.InvalidUserStatus, `${status} is no status of a user.`);
}
