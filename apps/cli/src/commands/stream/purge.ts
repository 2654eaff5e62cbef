import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace stream purge STREAM` */
export const addStreamPurge: AddCommand = (parent, run) => {
  leaf(parent, { name: "purge", alias: "p", summary: "remove all messages of a stream, keep its topics" })
    .argument("<stream>", "id or name", parseIdOrName)
    .action(
      run(async ({ client }, stream: number | string) => {
        await (await client()).purgeStream(stream);
        return sentence(`Stream ${describe(stream)} purged.`, { stream, purged: true });
      }),
    );
};
