import { parseName } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { TokenFile } from "../../stored-tokens/token-file.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace pat delete NAME`; a stored token of that name is forgotten too. */
export const addPatDelete: AddCommand = (parent, run) => {
  leaf(parent, { name: "delete", alias: "d", summary: "delete one of your tokens" })
    .argument("<name>", "name of the token", parseName)
    .action(
      run(async ({ client, server: target, world }, name: string) => {
        await (await client()).deletePersonalAccessToken(name);
        const server = target().address;
        const file = new TokenFile(world.home);
        if (Object.hasOwn(file.read(server).tokens, name)) file.setToken(server, name, undefined);
        return sentence(`Token "${name}" deleted.`, { name, deleted: true });
      }),
    );
};
