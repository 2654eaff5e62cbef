import { describe, parseIdOrName, parseName } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace user name USER NEW_NAME` */
export const addUserName: AddCommand = (parent, run) => {
  leaf(parent, { name: "name", alias: "n", summary: "rename a user" })
    .argument("<user>", "id or name", parseIdOrName)
    .argument("<name>", "the new name", parseName)
    .action(
      run(async ({ client }, user: number | string, username: string) => {
        await (await client()).updateUser(user, { username });
        return sentence(`User ${describe(user)} is now called "${username}".`, { user, username });
      }),
    );
};
