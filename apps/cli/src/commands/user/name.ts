import { describe, parseIdOrName, parseUsername } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { remarkOnDigits } from "../name-of-digits.ts";

/** `millrace user name USER NEW_NAME` */
export const addUserName: AddCommand = (parent, run) => {
  leaf(parent, { name: "name", alias: "n", summary: "rename a user" })
    .argument("<user>", "id or name", parseIdOrName)
    .argument("<name>", "the new name, 3 to 50 bytes", parseUsername)
    .action(
      run(async ({ client, output }, user: number | string, username: string) => {
        await (await client()).updateUser(user, { username });
        const id = typeof user === "number" ? user : undefined;
        remarkOnDigits(output, { thing: "user", name: username, id, list: "millrace user list" });
        return sentence(`User ${describe(user)} is now called "${username}".`, { user, username });
      }),
    );
};
