import { Argument } from "commander";
import { parseIdOrName, parseName } from "../../formats/id-or-name.ts";
import { parseU32, wholeNumber } from "../../formats/whole-number.ts";
import { objectOf, sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { remarkOnDigits } from "../name-of-digits.ts";
import { TOPIC_FIELDS } from "./fields.ts";
import { addCreateOptions, addSizeOption, type TopicOptionsTyped, topicOptions } from "./topic-options.ts";

/** The server creates at most so many partitions at once; a topic may start without any. */
const parsePartitionsCount = wholeNumber({ min: 0, max: 1000 });

/** `millrace topic create STREAM NAME PARTITIONS COMPRESSION [EXPIRY...]` */
export const addTopicCreate: AddCommand = (parent, run) => {
  const command = leaf(parent, { name: "create", alias: "c", summary: "create a topic" })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<name>", "name of the new topic", parseName)
    .argument("<partitions>", "number of partitions, 0 to 1000", parsePartitionsCount)
    .addArgument(compressionArgument())
    .addArgument(expiryArgument())
    .option("-t, --topic-id <id>", "accepted for compatible scripts; the server chooses the id", parseU32);
  addCreateOptions(addSizeOption(command)).action(
    run(
      async (
        { client, output },
        stream: number | string,
        name: string,
        partitionsCount: number,
        compression: "none" | "gzip",
        expiry: string[],
        typed: TopicOptionsTyped,
      ) => {
        const options = topicOptions(compression, expiry, typed);
        const topic = await (await client()).createTopic(stream, { ...options, name, partitionsCount });
        remarkOnDigits(output, { ...topic, thing: "topic", list: "millrace topic list" });
        return sentence(
          `Topic "${topic.name}" created with id ${topic.id} and ${topic.partitionsCount} partitions.`,
          objectOf(TOPIC_FIELDS, topic),
        );
      },
    ),
  );
};

/** COMPRESSION, which the server stores and reports only. */
export function compressionArgument(): Argument {
  return new Argument("<compression>", "kept for readers; nothing is compressed").choices(["none", "gzip"]);
}

/** EXPIRY, in words that are summed. */
export function expiryArgument(): Argument {
  return new Argument("[expiry...]", "1day 12h, unlimited or server_default; older segments leave");
}
