import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace stream delete STREAM` */
export const addStreamDelete: AddCommand = (parent, run) => {
  leaf(parent, { name: "delete", alias: "d", summary: "delete a stream with its topics and messages" })
    .argument("<stream>", "id or name", parseIdOrName)
    .action(
      run(async ({ client }, stream: number | string) => {
        await (await client()).deleteStream(stream);
        return sentence(`Stream ${describe(stream)} deleted.`, { stream, deleted: true });
      }),
    );
};
