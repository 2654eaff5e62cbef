import { ContextFile } from "../../contexts/context-file.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { parseContextName } from "./context-name.ts";

/** `millrace context delete NAME` */
export const addContextDelete: AddCommand = (parent, run) => {
  leaf(parent, { name: "delete", alias: "d", summary: "remove a context; default is active when it was" })
    .argument("<name>", "name of a context", parseContextName)
    .action(
      run(async ({ world }, name: string) => {
        const file = new ContextFile(world.home);
        file.delete(name);
        return sentence(`Context "${name}" deleted.`, { name, deleted: true, active: file.activeName() });
      }),
    );
};
