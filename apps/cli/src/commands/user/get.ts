import { CodedError, ErrorCode } from "@millrace/errors";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { properties } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { permissionsResult, USER_FIELDS } from "./fields.ts";

/** `millrace user get USER` */
export const addUserGet: AddCommand = (parent, run) => {
  leaf(parent, { name: "get", alias: "g", summary: "show a user and what he may do" })
    .argument("<user>", "id or name", parseIdOrName)
    .action(
      run(async ({ client }, userId: number | string) => {
        const user = await (await client()).getUser(userId);
        if (user === undefined) {
          throw new CodedError(ErrorCode.ResourceNotFound, `There is no user ${describe(userId)}.`);
        }
        return properties(USER_FIELDS, user, { permissions: permissionsResult(user) });
      }),
    );
};
