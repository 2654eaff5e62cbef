import { ErrorCode } from "@millrace/errors";
import {
  decodeBody,
  decodeCreateUserReply,
  decodeGetUserReply,
  decodeGetUsersReply,
  encodeBody,
  encodeChangePassword,
  encodeCreateUser,
  encodeDeleteUser,
  encodeGetUser,
  encodeUpdatePermissions,
  encodeUpdateUser,
  type Identifier,
  type Permissions,
  toIdentifier,
} from "@millrace/protocol";
import { notFound } from "../../errors/http-error.ts";
import { Fields } from "../../json/fields.ts";
import { readPermissions } from "../../objects/permissions-json.ts";
import { USER_STATUSES, userDetailsJson, userJson } from "../../objects/user-json.ts";
import { schema } from "../openapi/schemas.table.ts";
import { namingOption } from "./option-faults.ts";
import { optionsOf } from "./options-of.ts";
import type { Route, RouteCall } from "./route.ts";
import { identifierOf } from "./targets.ts";

const tag = "users";
const status = { type: "string", enum: Object.keys(USER_STATUSES) };

/** Users and their permissions. */
export const userRoutes: readonly Route[] = [
  {
    method: "GET",
    url: "/users",
    tag,
    summary: "All users",
    status: 200,
    answer: schema.listOf(schema.user),
    async handle({ session }) {
      return decodeBody(decodeGetUsersReply, await session.ask("GetUsers")).map(userJson);
    },
  },
  {
    method: "POST",
    url: "/users",
    tag,
    summary: "Creates a user",
    status: 200,
    body: schema.object(
      {
        username: schema.text,
        password: schema.text,
        status,
        permissions: schema.permissions,
        options: schema.optionTexts,
      },
      ["username", "password"],
    ),
    answer: schema.userDetails,
    async handle({ session, body, optionChecks }) {
      const fields = Fields.ofBody(body);
      const options = optionsOf(fields);
      const request = encodeBody(encodeCreateUser, {
        username: fields.name("username", ErrorCode.InvalidUsername),
        password: fields.name("password", ErrorCode.InvalidPassword),
        status: fields.choice("status", USER_STATUSES, "active"),
        permissions: permissionsOf(fields),
        options,
      });
      const asked = session.ask("CreateUser", request);
      const reply = await namingOption(asked, fields, () => optionChecks.none(options));
      return userDetailsJson(decodeBody(decodeCreateUserReply, reply));
    },
  },
  {
    method: "GET",
    url: "/users/:user_id",
    tag,
    summary: "A user with permissions; `me` is the caller",
    status: 200,
    answer: schema.userDetails,
    async handle(call) {
      const isCaller = call.path["user_id"] === "me";
      const user = isCaller ? toIdentifier(call.session.userId) : userOf(call);
      const reply = await call.session.ask("GetUser", encodeGetUser({ user }));
      const details = decodeBody(decodeGetUserReply, reply);
      if (details === undefined) throw notFound();
      return userDetailsJson(details);
    },
  },
  {
    method: "PUT",
    url: "/users/:user_id",
    tag,
    summary: "Changes name or status of a user",
    status: 204,
    body: schema.object({ username: schema.text, status, options: schema.optionTexts }),
    async handle(call) {
      const fields = Fields.ofBody(call.body);
      const options = optionsOf(fields);
      const request = encodeBody(encodeUpdateUser, {
        user: userOf(call),
        username: fields.has("username") ? fields.name("username", ErrorCode.InvalidUsername) : undefined,
        status: fields.has("status") ? fields.choice("status", USER_STATUSES) : undefined,
        options,
      });
      await namingOption(call.session.ask("UpdateUser", request), fields, () =>
        call.optionChecks.none(options),
      );
      return undefined;
    },
  },
  {
    method: "DELETE",
    url: "/users/:user_id",
    tag,
    summary: "Deletes a user and its tokens",
    status: 204,
    async handle(call) {
      await call.session.ask("DeleteUser", encodeDeleteUser({ user: userOf(call) }));
      return undefined;
    },
  },
  {
    method: "PUT",
    url: "/users/:user_id/password",
    tag,
    summary: "Changes a password",
    status: 204,
    body: schema.object({ current_password: schema.text, new_password: schema.text }, [
      "current_password",
      "new_password",
    ]),
    async handle(call) {
      const fields = Fields.ofBody(call.body);
      const request = encodeBody(encodeChangePassword, {
        user: userOf(call),
        currentPassword: fields.name("current_password", ErrorCode.InvalidCredentials),
        newPassword: fields.name("new_password", ErrorCode.InvalidPassword),
      });
      await call.session.ask("ChangePassword", request);
      return undefined;
    },
  },
  {
    method: "PUT",
    url: "/users/:user_id/permissions",
    tag,
    summary: "Replaces all permissions of a user; null takes them away",
    status: 204,
    body: schema.object({ permissions: schema.permissions }),
    async handle(call) {
      const permissions = permissionsOf(Fields.ofBody(call.body));
      await call.session.ask(
        "UpdatePermissions",
        encodeUpdatePermissions({ user: userOf(call), permissions }),
      );
      return undefined;
    },
  },
];

function userOf({ path }: RouteCall): Identifier {
  return identifierOf(path["user_id"] ?? "", "user_id");
}

function permissionsOf(fields: Fields): Permissions | undefined {
  return fields.has("permissions") ? readPermissions(fields.object("permissions")) : undefined;
}
