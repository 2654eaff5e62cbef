import { rows } from "../../output/result.ts";
import { type AddCommand, listLeaf } from "../command.ts";
import { TOKEN_FIELDS } from "./fields.ts";

/** `millrace pat list` */
export const addPatList: AddCommand = (parent, run) => {
  listLeaf(parent, { name: "list", alias: "l", summary: "list your tokens without their text" }).action(
    run(async ({ client }) =>
      rows(
        TOKEN_FIELDS,
        await (await client()).getPersonalAccessTokens(),
        "No personal access tokens found!",
      ),
    ),
  );
};
