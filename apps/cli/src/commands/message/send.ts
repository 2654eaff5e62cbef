import type { PartitionChoice } from "@millrace/client";
import { ErrorCode, isCodedError } from "@millrace/errors";
import type { Command } from "commander";
import { UsageError } from "../../failures/usage-error.ts";
import { collectHeaders, type HeaderText } from "../../formats/header-text.ts";
import { describe, parseIdOrName, parseMessageKey } from "../../formats/id-or-name.ts";
import { sizeText } from "../../formats/size.ts";
import { parseU32 } from "../../formats/whole-number.ts";
import { sentence } from "../../output/result.ts";
import type { World } from "../../world.ts";
import { type AddCommand, leaf } from "../command.ts";
import { getTopic } from "../topic/get.ts";
import {
  argumentSource,
  fileSource,
  linesFileSource,
  type MessageSource,
  stdinSource,
} from "./message-source.ts";
import { type SendTotals, sendAll } from "./send-all.ts";

interface SendTyped {
  readonly partitionId?: number;
  readonly messageKey?: string;
  readonly headers?: readonly HeaderText[];
  readonly inputFile?: string;
  readonly lines?: string;
}

/** `millrace message send STREAM TOPIC [MESSAGE...]` */
export const addMessageSend: AddCommand = (parent, run) => {
  const command = leaf(parent, { name: "send", alias: "s", summary: "send messages" })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("[message...]", "payloads; without any, each line of standard input is one");
  addSendOptions(command).action(
    run(
      async (
        { client, world, options },
        stream: number | string,
        topic: number | string,
        payloads: string[],
        typed: SendTyped,
      ) => {
        const choice = choiceOf(typed);
        const server = await client();
        const source = await openSource(payloads, typed, world, options.quiet === true);
        const producer = server.producer({ stream, topic, partitioning: choice });
        const started = world.elapsedMs();
        const totals = await sendAll(producer, source, headersOf(typed)).catch(async (error: unknown) => {
          // The server says only that something is missing; asking tells which, and what to do about it.
          if (isCodedError(error, ErrorCode.ResourceNotFound)) await getTopic(server, stream, topic);
          throw error;
        });
        return resultOf({ stream, topic, totals, elapsedMs: world.elapsedMs() - started });
      },
    ),
  );
};

function addSendOptions(command: Command): Command {
  return command
    .option("-p, --partition-id <n>", "send to this partition", parseU32)
    .option(
      "-m, --message-key <key>",
      "let the server choose the partition by this key; with neither, what is sent goes to the next one in turn",
      parseMessageKey,
    )
    .option("-H, --headers <key:kind:value,...>", "headers of every message; repeatable", collectHeaders)
    .option("--lines <file>", "send each line of a file as one message, with its progress on stderr")
    .option("--input-file <file>", "send the messages that message poll --output-file wrote");
}

function choiceOf({ partitionId, messageKey }: SendTyped): PartitionChoice {
  if (partitionId !== undefined && messageKey !== undefined) {
    throw new UsageError("Choose one of --partition-id and --message-key.");
  }
  if (partitionId !== undefined) return { partition: partitionId };
  return messageKey === undefined ? "balanced" : { key: messageKey };
}

async function openSource(
  payloads: readonly string[],
  { lines, inputFile }: SendTyped,
  world: World,
  quiet: boolean,
): Promise<MessageSource> {
  const given = [payloads.length > 0, lines !== undefined, inputFile !== undefined].filter(Boolean);
  if (given.length > 1) throw new UsageError("Give messages, --lines or --input-file, not two of them.");
  if (payloads.length > 0) return argumentSource(payloads);
  if (inputFile !== undefined) return fileSource(inputFile);
  if (lines !== undefined) return linesFileSource(lines, quiet ? undefined : world);
  if (world.stdin.isTTY) world.stderr.write("Type one message a line, Ctrl-D ends.\n");
  return stdinSource(world.stdin);
}

function headersOf({ headers = [] }: SendTyped) {
  if (headers.length === 0) return undefined;
  return new Map(headers.map(({ key, kind, value }) => [key, { kind, value }] as const));
}

function resultOf(sent: {
  readonly stream: number | string;
  readonly topic: number | string;
  readonly totals: SendTotals;
  readonly elapsedMs: number;
}) {
  const { stream, topic, totals, elapsedMs } = sent;
  const skipped = totals.skipped === 0 ? "" : `; ${totals.skipped} empty lines skipped`;
  const text =
    `${totals.messages} messages (${sizeText(totals.bytes)}) sent to topic ${describe(topic)} of stream ` +
    `${describe(stream)} in ${elapsedMs.toFixed(0)} ms${skipped}.`;
  return sentence(text, {
    stream,
    topic,
    messages: totals.messages,
    bytes: totals.bytes,
    skipped_empty_lines: totals.skipped,
    elapsed_ms: Math.round(elapsedMs),
    partitions: [...totals.partitions].map(([partitionId, range]) => ({
      partition_id: partitionId,
      messages: range.messages,
      first_offset: range.firstOffset,
      last_offset: range.lastOffset,
    })),
  });
}
