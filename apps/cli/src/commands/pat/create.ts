import { UsageError } from "../../failures/usage-error.ts";
import { parseTokenName } from "../../formats/id-or-name.ts";
import { parseTokenExpiry } from "../../formats/token-expiry.ts";
import type { Invocation } from "../../invocation.ts";
import { type Result, sentence } from "../../output/result.ts";
import { TokenFile } from "../../stored-tokens/token-file.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace pat create NAME [EXPIRY...]`, or with `--store-token` in place of an expiry. */
export const addPatCreate: AddCommand = (parent, run) => {
  leaf(parent, { name: "create", alias: "c", summary: "create a personal access token; it is shown once" })
    .argument("<name>", "3 to 30 bytes", parseTokenName)
    .argument("[expiry...]", "30days, 1day 12h, or unlimited")
    .option("-s, --store-token", "keep it for -n NAME in a file that only you can read; it never expires")
    .action(
      run(async (invocation, name: string, words: string[], typed: { readonly storeToken?: true }) => {
        if (typed.storeToken === true) return storeToken(invocation, name, words);
        const expiry = parseTokenExpiry(words);
        const { client, options, world } = invocation;
        const token = await (await client()).createPersonalAccessToken(name, expiryOf(expiry));
        if (options.quiet !== true) return shown(name, token);
        world.stdout.write(`${token}\n`);
      }),
    );
};

async function storeToken(
  { client, server: target, options, world }: Invocation,
  name: string,
  words: readonly string[],
): Promise<Result | undefined> {
  if (words.length > 0)
    throw new UsageError("A stored token never expires: give no expiry with --store-token.");
  const server = target().address;
  const file = new TokenFile(world.home);
  file.read(server);
  const token = await (await client()).createPersonalAccessToken(name);
  file.setToken(server, name, token);
  if (options.quiet !== true) {
    return sentence(`Token "${name}" created and stored for ${server}; use it with -n ${name}.`, {
      name,
      stored_for: server,
    });
  }
  world.stdout.write(`${name}\n`);
}

function shown(name: string, token: string): Result {
  const text = `Token "${name}" created. Keep it now, it is not shown again: ${token}`;
  return sentence(text, { name, token });
}

function expiryOf(expiry: bigint | undefined): { expiry?: bigint } {
  return expiry === undefined ? {} : { expiry };
}
