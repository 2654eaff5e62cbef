import { appendFileSync } from "node:fs";
import type { PollStart } from "@millrace/client";
import { type Command, Option } from "commander";
import type { ShownMessage } from "../../connection/client.ts";
import { UsageError } from "../../failures/usage-error.ts";
import { parseIdOrName } from "../../formats/id-or-name.ts";
import { encodeFileMessage } from "../../formats/message-file.ts";
import { sizeText } from "../../formats/size.ts";
import { parseTimestamp } from "../../formats/timestamp.ts";
import { parseCount, parseU32, parseU64 } from "../../formats/whole-number.ts";
import { objectOf, type Result, rows } from "../../output/result.ts";
import { type AddCommand, leaf } from "../command.ts";
import { headerFields, MESSAGE_FIELDS, MESSAGE_JSON_FIELDS } from "./fields.ts";

interface PollTyped {
  readonly offset?: bigint;
  readonly first?: true;
  readonly last?: true;
  readonly next?: true;
  readonly timestamp?: bigint;
  readonly messageCount: number;
  readonly autoCommit?: true;
  readonly consumer: number | string;
  readonly showHeaders?: true;
  readonly outputFile?: string;
}

/** `millrace message poll STREAM TOPIC PARTITION` */
export const addMessagePoll: AddCommand = (parent, run) => {
  const command = leaf(parent, { name: "poll", alias: "p", summary: "read messages of a partition" })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("<partition>", "number from 0", parseU32);
  addPollOptions(command).action(
    run(
      async (
        { client, output, world },
        stream: number | string,
        topic: number | string,
        partitionId: number,
        typed: PollTyped,
      ) => {
        const startAt = startOf(typed);
        const { consumer, messageCount: count, autoCommit = false } = typed;
        const server = await client();
        const started = world.elapsedMs();
        const poll = { stream, topic, partitionId, consumer, startAt, count, autoCommit };
        const { messages } = await server.pollMessages(poll);
        const elapsed = world.elapsedMs() - started;
        if (typed.outputFile !== undefined) return appendTo(typed.outputFile, messages);
        output.show(resultOf(messages, typed));
        const bytes = messages.reduce((sum, message) => sum + message.payload.length, 0);
        output.line(`${messages.length} messages, ${sizeText(bytes)}, ${elapsed.toFixed(2)} ms`);
      },
    ),
  );
};

function addPollOptions(command: Command): Command {
  return command
    .option("-o, --offset <n>", "start at an offset", parseU64)
    .option("-f, --first", "start at the oldest message")
    .option("-l, --last", "read the newest messages")
    .option("-n, --next", "start behind the stored offset of the consumer")
    .option(
      "--timestamp <time>",
      "start at a time: microseconds since 1970 or 2026-09-21T10:00:00Z",
      parseTimestamp,
    )
    .option("-m, --message-count <n>", "how many at most", parseCount, 1)
    .option("-a, --auto-commit", "store the offset of the last message for the consumer")
    .addOption(
      new Option("-c, --consumer <consumer>", "id or name of the consumer")
        .argParser(parseIdOrName)
        .default(0),
    )
    .option("-s, --show-headers", "one more column for each header")
    .option("--output-file <file>", "append the messages to a file, for message send --input-file");
}

/** Exactly one start must be typed. */
function startOf(typed: PollTyped): PollStart {
  const starts: PollStart[] = [];
  if (typed.offset !== undefined) starts.push({ offset: typed.offset });
  if (typed.timestamp !== undefined) starts.push({ timestamp: typed.timestamp });
  for (const name of ["first", "last", "next"] as const) if (typed[name]) starts.push(name);
  const [start] = starts;
  if (start !== undefined && starts.length === 1) return start;
  throw new UsageError(
    "Say where to start with one of --offset N, --first, --last, --next, --timestamp TIME.",
  );
}

function resultOf(messages: readonly ShownMessage[], typed: PollTyped): Result {
  const fields = typed.showHeaders ? [...MESSAGE_FIELDS, ...headerFields(messages)] : MESSAGE_FIELDS;
  const { parts } = rows(fields, messages, "No messages found!");
  return { json: messages.map((message) => objectOf(MESSAGE_JSON_FIELDS, message)), parts };
}

function appendTo(file: string, messages: readonly ShownMessage[]): Result {
  appendFileSync(file, Buffer.concat(messages.map(encodeFileMessage)));
  const text = `${messages.length} messages appended to ${file}.`;
  return { json: { messages: messages.length, file }, parts: [{ kind: "sentence", text }] };
}
