import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { addOffsetTarget, type OffsetTyped, offsetTarget } from "./target.ts";

/** `millrace consumer-offset delete CONSUMER STREAM TOPIC PARTITION` */
export const addConsumerOffsetDelete: AddCommand = (parent, run) => {
  const command = leaf(parent, {
    name: "delete",
    alias: "d",
    summary: "forget the stored offset of a consumer",
  });
  addOffsetTarget(command).action(
    run(async ({ client }, ...[consumer, stream, topic, partition, typed]: OffsetTyped) => {
      const { place, where, json } = offsetTarget([consumer, stream, topic, partition], typed);
      await (await client()).deleteConsumerOffset(place);
      return sentence(`Offset of ${where} forgotten.`, { ...json, deleted: true });
    }),
  );
};
