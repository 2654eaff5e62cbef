import { ContextFile } from "../../contexts/context-file.ts";
import { printable } from "../../output/printable.ts";
import type { Result } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { parseContextName } from "./context-name.ts";

/** Keys whose values nobody needs to see again. */
const SECRETS = new Set(["password", "token", "connection_string", "encryption_key"]);

/** `millrace context show NAME`; secrets are not shown. */
export const addContextShow: AddCommand = (parent, run) => {
  leaf(parent, { name: "show", alias: "s", summary: "show what a context holds, but for its secrets" })
    .argument("<name>", "name of a context", parseContextName)
    .action(
      run(async ({ world }, name: string): Promise<Result> => {
        const file = new ContextFile(world.home);
        const { values } = file.get(name);
        const shown = Object.entries(values).map(
          ([key, value]) => [key, SECRETS.has(key) ? "***" : value] as const,
        );
        const active = file.activeName() === name;
        const facts = [["name", name], ["active", active ? "yes" : "no"], ...shown] as const;
        return {
          json: { name, active, options: Object.fromEntries(shown) },
          parts: [
            { kind: "properties", rows: facts.map(([key, value]) => [key, printable(value)] as const) },
          ],
        };
      }),
    );
};
