import {
  type CommandName,
  decodeChangePassword,
  decodeCreatePersonalAccessToken,
  decodeCreateUser,
  decodeDeletePersonalAccessToken,
  decodeDeleteUser,
  decodeGetUser,
  decodeUpdatePermissions,
  decodeUpdateUser,
  encodeCreatePersonalAccessTokenReply,
  encodeCreateUserReply,
  encodeGetPersonalAccessTokensReply,
  encodeGetUserReply,
  encodeGetUsersReply,
  type Identifier,
} from "@millrace/protocol";
import { optionTextsJson } from "../../objects/option-json.ts";
import {
  optionalPermissionsJson,
  readTokenJson,
  readUserDetailsJson,
  readUserJson,
} from "../../objects/user-json.ts";
import { findOne, getList, type MakeCall, postOne, segment, send } from "./api-call.ts";

const TOKENS = "/personal-access-tokens";

/** Users and the caller's personal access tokens. */
export const USER_CALLS: Readonly<Partial<Record<CommandName, MakeCall>>> = {
  GetUsers: () => getList("/users", readUserJson, encodeGetUsersReply),
  GetUser: (body) => findOne(userPath(decodeGetUser(body)), readUserDetailsJson, encodeGetUserReply),
  CreateUser: (body) => {
    const { username, password, status, permissions, options } = decodeCreateUser(body);
    const request = {
      username,
      password,
      status,
      permissions: optionalPermissionsJson(permissions),
      options: optionTextsJson(options),
    };
    return postOne("/users", request, readUserDetailsJson, encodeCreateUserReply);
  },
  UpdateUser: (body) => {
    const { username, status, options, ...target } = decodeUpdateUser(body);
    const request = { username: username ?? null, status: status ?? null, options: optionTextsJson(options) };
    return send("PUT", userPath(target), request);
  },
  DeleteUser: (body) => send("DELETE", userPath(decodeDeleteUser(body))),
  ChangePassword: (body) => {
    const { currentPassword, newPassword, ...target } = decodeChangePassword(body);
    const request = { current_password: currentPassword, new_password: newPassword };
    return send("PUT", `${userPath(target)}/password`, request);
  },
  UpdatePermissions: (body) => {
    const { permissions, ...target } = decodeUpdatePermissions(body);
    const request = { permissions: optionalPermissionsJson(permissions) };
    return send("PUT", `${userPath(target)}/permissions`, request);
  },

  GetPersonalAccessTokens: () => getList(TOKENS, readTokenJson, encodeGetPersonalAccessTokensReply),
  CreatePersonalAccessToken: (body) => {
    const { name, expiryMicros } = decodeCreatePersonalAccessToken(body);
    const request = { name, expiry: expiryMicros };
    return postOne(TOKENS, request, (fields) => fields.text("token"), encodeCreatePersonalAccessTokenReply);
  },
  DeletePersonalAccessToken: (body) => {
    const { name } = decodeDeletePersonalAccessToken(body);
    return send("DELETE", `${TOKENS}/${encodeURIComponent(name)}`);
  },
};

function userPath({ user }: { readonly user: Identifier }): string {
  return `/users/${segment(user)}`;
}
