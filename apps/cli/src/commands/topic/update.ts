import { describe, parseIdOrName, parseName } from "../../formats/id-or-name.ts";
import { sentence } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { remarkOnDigits } from "../name-of-digits.ts";
import { compressionArgument, expiryArgument } from "./create.ts";
import { addSizeOption, type TopicOptionsTyped, topicOptions } from "./topic-options.ts";

/** `millrace topic update STREAM TOPIC NAME COMPRESSION [EXPIRY...]`. What is not typed stays as it is. */
export const addTopicUpdate: AddCommand = (parent, run) => {
  const command = leaf(parent, {
    name: "update",
    alias: "u",
    summary: "rename a topic and change its options",
  })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("<name>", "its new name, or the one it has", parseName)
    .addArgument(compressionArgument())
    .addArgument(expiryArgument());
  addSizeOption(command).action(
    run(
      async (
        { client, output },
        stream: number | string,
        topic: number | string,
        name: string,
        compression: "none" | "gzip",
        expiry: string[],
        typed: TopicOptionsTyped,
      ) => {
        const options = topicOptions(compression, expiry, typed);
        await (await client()).updateTopic(stream, topic, { ...options, name });
        const id = typeof topic === "number" ? topic : undefined;
        remarkOnDigits(output, { thing: "topic", name, id, list: "millrace topic list" });
        return sentence(`Topic ${describe(topic)} of stream ${describe(stream)} updated.`, {
          stream,
          topic,
          name,
        });
      },
    ),
  );
};
