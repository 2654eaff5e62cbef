import type { UserStatus } from "@millrace/client";
import { Argument } from "commander";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace user status USER active|inactive` */
export const addUserStatus: AddCommand = (parent, run) => {
  leaf(parent, { name: "status", alias: "s", summary: "let a user log in, or not; his sessions end with it" })
    .argument("<user>", "id or name", parseIdOrName)
    .addArgument(new Argument("<status>", "whether the user may log in").choices(["active", "inactive"]))
    .action(
      run(async ({ client }, user: number | string, status: UserStatus) => {
        await (await client()).updateUser(user, { status });
        return sentence(`User ${describe(user)} is ${status} now.`, { user, status });
      }),
    );
};
