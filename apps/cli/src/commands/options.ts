import type { KnownOption } from "@millrace/client";
import type { OptionScope } from "@millrace/protocol";
import { Argument } from "commander";
import { optionText, valueJson } from "../formats/typed-field-text.ts";
import { type Field, rows } from "../output/result.ts";
import { type AddCommand, leaf } from "./command.ts";

const OPTION_FIELDS: readonly Field<KnownOption>[] = [
  { name: "key", title: "Key", value: (option) => option.key },
  { name: "kind", title: "Kind", value: (option) => option.kind },
  {
    name: "default",
    title: "Default",
    value: (option) => valueJson(option.defaultValue),
    text: ({ key, defaultValue }) => optionText(key, defaultValue),
  },
  { name: "description", title: "Description", value: (option) => option.description },
];

/** `millrace options topic|stream|user` */
export const addOptions: AddCommand = (parent, run) => {
  leaf(parent, { name: "options", summary: "list the options that a topic, stream or user can have" })
    .addArgument(new Argument("<scope>", "whose options").choices(["topic", "stream", "user"]))
    .action(
      run(async ({ client }, scope: OptionScope) => {
        const options = await (await client()).describeOptions(scope);
        return rows(OPTION_FIELDS, options, `A ${scope} has no options.`);
      }),
    );
};
