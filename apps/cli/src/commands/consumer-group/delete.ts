import { describe } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { addGroupTarget } from "./target.ts";

/** `millrace consumer-group delete STREAM TOPIC GROUP` */
export const addGroupDelete: AddCommand = (parent, run) => {
  const command = leaf(parent, { name: "delete", alias: "d", summary: "delete a group and its offsets" });
  addGroupTarget(command).action(
    run(async ({ client }, stream: number | string, topic: number | string, group: number | string) => {
      await (await client()).deleteConsumerGroup({ stream, topic, group });
      const text = `Consumer group ${describe(group)} of topic ${describe(topic)} deleted.`;
      return sentence(text, { stream, topic, group, deleted: true });
    }),
  );
};
