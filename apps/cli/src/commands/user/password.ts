import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
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
        await server.changePassword(user, { currentPassword, newPassword }).catch((error) => {
          throw isCodedError(error, ErrorCode.InvalidCredentials) ? wrongCurrent(user, error) : error;
        });
        return sentence(`The password of user ${describe(user)} is changed.`, { user, changed: true });
      }),
    );
};

/** The login went well: what is wrong is the password that was typed as the current one. */
function wrongCurrent(user: number | string, cause: unknown): CodedError {
  const message = `CURRENT is not the password of user ${describe(user)}.`;
  const next = "Type the password as it is now, or leave it out and be asked for it.";
  return new CodedError(ErrorCode.InvalidCredentials, message, { cause, details: { next } });
}

/** A prompt on a terminal, else one line of standard input. */
async function ask(question: string, world: World): Promise<string> {
  const typed = world.stdin.isTTY ? await world.askSecret(question) : await readOneLine(world.stdin);
  if (typed !== undefined && typed !== "") return typed;
  throw new UsageError(`${question}: nothing was given.`);
}
