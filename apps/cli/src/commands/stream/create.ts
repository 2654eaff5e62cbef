import { parseName } from "../../formats/id-or-name.ts";
import { parseU32 } from "../../formats/whole-number.ts";
import { objectOf, sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { remarkOnDigits } from "../name-of-digits.ts";
import { STREAM_FIELDS } from "./fields.ts";

/** `millrace stream create NAME` */
export const addStreamCreate: AddCommand = (parent, run) => {
  leaf(parent, { name: "create", alias: "c", summary: "create a stream" })
    .argument("<name>", "name of the new stream", parseName)
    .option("-s, --stream-id <id>", "accepted for compatible scripts; the server chooses the id", parseU32)
    .action(
      run(async ({ client, output }, name: string) => {
        const stream = await (await client()).createStream(name);
        remarkOnDigits(output, { ...stream, thing: "stream", list: "millrace stream list" });
        return sentence(
          `Stream "${stream.name}" created with id ${stream.id}.`,
          objectOf(STREAM_FIELDS, stream),
        );
      }),
    );
};
