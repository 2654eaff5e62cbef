import { ContextFile } from "../../contexts/context-file.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { parseContextName } from "./context-name.ts";

/** `millrace context use NAME` */
export const addContextUse: AddCommand = (parent, run) => {
  leaf(parent, { name: "use", alias: "u", summary: "make a context the active one" })
    .argument("<name>", "name of a context, or default", parseContextName)
    .action(
      run(async ({ world }, name: string) => {
        new ContextFile(world.home).use(name);
        return sentence(`Context "${name}" is active now.`, { name, active: true });
      }),
    );
};
