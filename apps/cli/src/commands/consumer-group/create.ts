import { parseIdOrName, parseName } from "../../formats/id-or-name.ts";
import { parseU32 } from "../../formats/whole-number.ts";
import { objectOf, sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { remarkOnDigits } from "../name-of-digits.ts";
import { GROUP_FIELDS } from "./fields.ts";

/** `millrace consumer-group create STREAM TOPIC NAME` */
export const addGroupCreate: AddCommand = (parent, run) => {
  leaf(parent, { name: "create", alias: "c", summary: "create a consumer group" })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("<name>", "name of the new group", parseName)
    .option("-g, --group-id <id>", "accepted for compatible scripts; the server chooses the id", parseU32)
    .action(
      run(async ({ client, output }, stream: number | string, topic: number | string, name: string) => {
        const group = await (await client()).createConsumerGroup(stream, topic, name);
        remarkOnDigits(output, { ...group, thing: "group", list: "millrace consumer-group list" });
        const text = `Consumer group "${group.name}" created with id ${group.id}.`;
        return sentence(text, objectOf(GROUP_FIELDS, group));
      }),
    );
};
