import { CONNECTION_OPTIONS } from "../../connection/connection-options.table.ts";
import {
  addConnectionOptions,
  attributeOf,
  contextKeyOf,
  typedTexts,
} from "../../connection/connection-options.ts";
import { addCredentialOptions, type CredentialOptions } from "../../connection/credential-options.ts";
import { type Context, ContextFile } from "../../contexts/context-file.ts";
import { UsageError } from "../../failures/usage-error.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { parseContextName } from "./context-name.ts";

type Typed = CredentialOptions & Readonly<Record<string, unknown>>;

/** `millrace context create NAME`; every connection and credential option may follow. */
export const addContextCreate: AddCommand = (parent, run) => {
  const command = leaf(parent, {
    name: "create",
    alias: "c",
    summary: "keep connection options under a name; it is not active yet",
  });
  command.argument("<name>", "letters, digits, - and _", parseContextName);
  addConnectionOptions(command);
  addCredentialOptions(command);
  command.action(
    run(async ({ world }, name: string, typed: Typed) => {
      const kinds = [typed.username, typed.token, typed.tokenName].filter((one) => one !== undefined);
      if (kinds.length > 1) throw new UsageError("Give one of -u, -t and -n, not two of them.");
      const values = valuesOf(typed);
      new ContextFile(world.home).create({ name, values });
      return sentence(`Context "${name}" created; use it with: millrace context use ${name}`, {
        name,
        options: Object.keys(values),
      });
    }),
  );
};

function valuesOf(typed: Typed): Context["values"] {
  const texts = typedTexts(typed);
  const options = CONNECTION_OPTIONS.map((row) => [contextKeyOf(row), texts[attributeOf(row)]] as const);
  const { username, password, token, tokenName } = typed;
  const credentials = Object.entries({ username, password, token, token_name: tokenName });
  const given = [...options, ...credentials].filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return Object.fromEntries(given);
}
