import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { addOffsetTarget, consumerOf, type KindTyped, whereText } from "./target.ts";

/** `millrace consumer-offset delete CONSUMER STREAM TOPIC PARTITION` */
export const addConsumerOffsetDelete: AddCommand = (parent, run) => {
  const command = leaf(parent, {
    name: "delete",
    alias: "d",
    summary: "forget the stored offset of a consumer",
  });
  addOffsetTarget(command).action(
    run(
      async (
        { client },
        consumer: number | string,
        stream: number | string,
        topic: number | string,
        partitionId: number,
        typed: KindTyped,
      ) => {
        const target = { consumer: consumerOf(consumer, typed), stream, topic, partitionId };
        await (await client()).deleteConsumerOffset(target);
        const text = `Offset of ${whereText(consumer, topic, partitionId)} forgotten.`;
        return sentence(text, { consumer, stream, topic, partition_id: partitionId, deleted: true });
      },
    ),
  );
};
