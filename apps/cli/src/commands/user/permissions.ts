import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { permissionsTyped } from "../../formats/permissions.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { addPermissionOptions, type PermissionsTyped } from "./permission-options.ts";

/** `millrace user permissions USER`; without options everything is taken away. */
export const addUserPermissions: AddCommand = (parent, run) => {
  const command = leaf(parent, {
    name: "permissions",
    alias: "p",
    summary: "replace what a user may do; without options nothing is left",
  }).argument("<user>", "id or name", parseIdOrName);
  addPermissionOptions(command).action(
    run(async ({ client }, user: number | string, typed: PermissionsTyped) => {
      const permissions = permissionsTyped(typed);
      await (await client()).updatePermissions(user, permissions);
      const text = permissions === undefined ? "taken away" : "replaced";
      return sentence(`The permissions of user ${describe(user)} are ${text}.`, {
        user,
        has_permissions: permissions !== undefined,
      });
    }),
  );
};
