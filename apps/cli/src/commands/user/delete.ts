import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace user delete USER` */
export const addUserDelete: AddCommand = (parent, run) => {
  leaf(parent, { name: "delete", alias: "d", summary: "delete a user, his tokens and his sessions" })
    .argument("<user>", "id or name", parseIdOrName)
    .action(
      run(async ({ client }, user: number | string) => {
        await (await client()).deleteUser(user);
        return sentence(`User ${describe(user)} deleted.`, { user, deleted: true });
      }),
    );
};
