import { CodedError, ErrorCode } from "@millrace/errors";
import { parseU32 } from "../../formats/whole-number.ts";
import { properties, rows } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { CLIENT_FIELDS, CLIENT_GROUP_FIELDS } from "./fields.ts";

/** `millrace client get CLIENT_ID` */
export const addClientGet: AddCommand = (parent, run) => {
  leaf(parent, { name: "get", alias: "g", summary: "show a client and its consumer groups" })
    .argument("<client-id>", "number that client list shows", parseU32)
    .action(
      run(async ({ client }, clientId: number) => {
        const found = await (await client()).getClient(clientId);
        if (found === undefined) {
          throw new CodedError(ErrorCode.ClientNotFound, `There is no client ${clientId}.`);
        }
        return properties(CLIENT_FIELDS, found, {
          consumer_groups: rows(CLIENT_GROUP_FIELDS, found.groups, "Member of no consumer groups."),
        });
      }),
    );
};
