import type { UserStatus } from "@millrace/client";
import { Option } from "commander";
import { parseUsername } from "../../formats/id-or-name.ts";
import { permissionsTyped } from "../../formats/permissions.ts";
import { objectOf, sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { remarkOnDigits } from "../name-of-digits.ts";
import { permissionsResult, USER_FIELDS } from "./fields.ts";
import { addPermissionOptions, type PermissionsTyped } from "./permission-options.ts";

/** `millrace user create USERNAME PASSWORD` */
export const addUserCreate: AddCommand = (parent, run) => {
  const command = leaf(parent, { name: "create", alias: "c", summary: "create a user" })
    .argument("<username>", "3 to 50 bytes", parseUsername)
    .argument("<password>", "3 to 100 bytes")
    .addOption(
      new Option("-u, --user-status <status>", "whether the user may log in")
        .choices(["active", "inactive"])
        .default("active"),
    );
  addPermissionOptions(command).action(
    run(
      async (
        { client, output },
        username: string,
        password: string,
        typed: PermissionsTyped & { readonly userStatus: UserStatus },
      ) => {
        const permissions = permissionsTyped(typed);
        const user = await (await client()).createUser({
          username,
          password,
          status: typed.userStatus,
          ...(permissions === undefined ? {} : { permissions }),
        });
        remarkOnDigits(output, { ...user, name: user.username, thing: "user", list: "millrace user list" });
        return sentence(`User "${user.username}" created with id ${user.id}.`, {
          ...objectOf(USER_FIELDS, user),
          permissions: permissionsResult(user).json,
        });
      },
    ),
  );
};
