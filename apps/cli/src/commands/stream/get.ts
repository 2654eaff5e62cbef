import { CodedError, ErrorCode } from "@millrace/errors";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { properties, rows } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { TOPIC_FIELDS } from "../topic/fields.ts";
import { STREAM_FIELDS } from "./fields.ts";

/** `millrace stream get STREAM` */
export const addStreamGet: AddCommand = (parent, run) => {
  leaf(parent, { name: "get", alias: "g", summary: "show a stream and its topics" })
    .argument("<stream>", "id or name", parseIdOrName)
    .action(
      run(async ({ client }, streamId: number | string) => {
        const stream = await (await client()).getStream(streamId);
        if (stream === undefined) {
          throw new CodedError(ErrorCode.StreamIdNotFound, `There is no stream ${describe(streamId)}.`);
        }
        return properties(STREAM_FIELDS, stream, {
          topics: rows(TOPIC_FIELDS, stream.topics, "The stream has no topics."),
        });
      }),
    );
};
