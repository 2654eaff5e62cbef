import { describe, parseIdOrName, parseName } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { remarkOnDigits } from "../name-of-digits.ts";

/** `millrace stream update STREAM NAME` */
export const addStreamUpdate: AddCommand = (parent, run) => {
  leaf(parent, { name: "update", alias: "u", summary: "rename a stream" })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<name>", "its new name", parseName)
    .action(
      run(async ({ client, output }, stream: number | string, name: string) => {
        await (await client()).updateStream(stream, { name });
        const id = typeof stream === "number" ? stream : undefined;
        remarkOnDigits(output, { thing: "stream", name, id, list: "millrace stream list" });
        return sentence(`Stream ${describe(stream)} is now called "${name}".`, { stream, name });
      }),
    );
};
