import { parseU64 } from "../../formats/whole-number.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { addOffsetTarget, consumerOf, type KindTyped, whereText } from "./target.ts";

/** `millrace consumer-offset set CONSUMER STREAM TOPIC PARTITION OFFSET` */
export const addConsumerOffsetSet: AddCommand = (parent, run) => {
  const command = leaf(parent, { name: "set", alias: "s", summary: "store an offset for a consumer" });
  addOffsetTarget(command)
    .argument("<offset>", "offset of the last message that was handled", parseU64)
    .action(
      run(
        async (
          { client },
          consumer: number | string,
          stream: number | string,
          topic: number | string,
          partitionId: number,
          offset: bigint,
          typed: KindTyped,
        ) => {
          const target = { consumer: consumerOf(consumer, typed), stream, topic, partitionId };
          await (await client()).storeConsumerOffset({ ...target, offset });
          const text = `Offset ${offset} stored for ${whereText(consumer, topic, partitionId)}.`;
          return sentence(text, {
            consumer,
            stream,
            topic,
            partition_id: partitionId,
            stored_offset: offset,
          });
        },
      ),
    );
};
