import { parseU64 } from "../../formats/whole-number.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { addOffsetTarget, type OffsetTyped, type OffsetWords, offsetTarget } from "./target.ts";

type SetTyped = [...OffsetWords, offset: bigint, typed: OffsetTyped[4]];

/** `millrace consumer-offset set CONSUMER STREAM TOPIC PARTITION OFFSET` */
export const addConsumerOffsetSet: AddCommand = (parent, run) => {
  const command = leaf(parent, { name: "set", alias: "s", summary: "store an offset for a consumer" });
  addOffsetTarget(command)
    .argument("<offset>", "offset of the last message that was handled", parseU64)
    .action(
      run(async ({ client }, ...[consumer, stream, topic, partition, offset, typed]: SetTyped) => {
        const { place, where, json } = offsetTarget([consumer, stream, topic, partition], typed);
        await (await client()).storeConsumerOffset({ ...place, offset });
        return sentence(`Offset ${offset} stored for ${where}.`, { ...json, stored_offset: offset });
      }),
    );
};
