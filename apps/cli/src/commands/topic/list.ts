import { CodedError, ErrorCode } from "@millrace/errors";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { rows } from "../../output/result.ts";
import { type AddCommand, listLeaf } from "../command.ts";
import { TOPIC_FIELDS } from "./fields.ts";

/**
 * `millrace topic list STREAM`. The server answers a missing stream with no topics, so an empty list is
 * looked into.
 */
export const addTopicList: AddCommand = (parent, run) => {
  listLeaf(parent, { name: "list", alias: "l", summary: "list the topics of a stream" })
    .argument("<stream>", "id or name", parseIdOrName)
    .action(
      run(async ({ client }, stream: number | string) => {
        const server = await client();
        const topics = await server.getTopics(stream);
        if (topics.length === 0 && (await server.getStream(stream)) === undefined) {
          throw new CodedError(ErrorCode.StreamIdNotFound, `There is no stream ${describe(stream)}.`);
        }
        return rows(TOPIC_FIELDS, topics, "No topics found!");
      }),
    );
};
