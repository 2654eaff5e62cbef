import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { parseBatchCount, parseU32 } from "../../formats/whole-number.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";

/** `millrace segment delete STREAM TOPIC PARTITION COUNT` */
export const addSegmentDelete: AddCommand = (parent, run) => {
  leaf(parent, { name: "delete", alias: "d", summary: "remove the oldest sealed segments of a partition" })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("<partition>", "number from 0", parseU32)
    .argument("<count>", "how many at most, 1 to 1000", parseBatchCount)
    .action(
      run(
        async (
          { client },
          stream: number | string,
          topic: number | string,
          partition: number,
          count: number,
        ) => {
          await (await client()).deleteSegments(stream, topic, partition, count);
          const where = `partition ${partition} of topic ${describe(topic)}`;
          const what = `Up to ${count} of the oldest sealed segments of ${where} are gone`;
          return sentence(`${what}, but for what stored offsets need.`, {
            stream,
            topic,
            partition,
            segments_at_most: count,
          });
        },
      ),
    );
};
