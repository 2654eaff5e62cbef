import { UsageError } from "../../failures/usage-error.ts";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { readOneLine } from "../../formats/lines.ts";
import { sentence } from "../../output/result.ts";
import type { World } from "../../world.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace user password USER [CURRENT] [NEW]`; what is missing is asked for. */
export const addUserPassword: AddCommand = (parent, run) => {
  leaf(parent, { name: "password", alias: "pwd", summary: "change a password" })
    .argument("<user>", "id or name", parseIdOrName)
    .argument("[current]", "the password as it is; asked for when left out")
    .argument("[new]", "the new one, 3 to 100 bytes; asked for when left out")
    .action(
      run(async ({ client, world }, user: number | string, current?: string, changed?: string) => {
        // The login comes first: on standard input its password is the first line.
        const server = await client();
        const currentPassword = current ?? (await ask("Current password", world));
        const newPassword = changed ?? (await ask("New password", world));
        await server.changePassword(user, { currentPassword, newPassword });
        return sentence(`The password of user ${describe(user)} is changed.`, { user, changed: true });
      }),
    );
};

/** A prompt on a terminal, else one line of standard input. */
async function ask(question: string, world: World): Promise<string> {
  const typed = world.stdin.isTTY ? await world.askSecret(question) : await readOneLine(world.stdin);
  if (typed !== undefined && typed !== "") return typed;
  throw new UsageError(`${question}: nothing was given.`);
}
