import { setTimeout as sleep } from "node:timers/promises";
import type { Client, ShownMessage } from "../../connection/client.ts";
import { ExitCode } from "../../exit-codes.ts";
import { parseIdOrName } from "../../formats/id-or-name.ts";
import { parseCount, parseU32, wholeNumber } from "../../formats/whole-number.ts";
import type { Output } from "../../output/output.ts";
import { type AddCommand, leaf } from "../command.ts";
import { getTopic } from "../topic/get.ts";
import { MESSAGE_FIELDS, MESSAGE_JSON_FIELDS, PARTITION_FIELD } from "./fields.ts";
import { type PartitionReader, readersFromFirst, readersFromLast } from "./partition-reader.ts";

/** Most messages of the past that one partition shows first; more belongs to `poll` or `--first`. */
const LAST_MAX = 100_000;
/** Pause after a round in which no partition had anything new. */
const IDLE_PAUSE_MS = 100;

interface TailTyped {
  readonly last: number;
  readonly first?: true;
  readonly count?: number;
}

/** `millrace message tail STREAM TOPIC [PARTITION]` */
export const addMessageTail: AddCommand = (parent, run) => {
  leaf(parent, {
    name: "tail",
    alias: "t",
    summary: "show the newest messages and follow new ones until Ctrl-C",
  })
    .argument("<stream>", "id or name", parseIdOrName)
    .argument("<topic>", "id or name", parseIdOrName)
    .argument("[partition]", "only this one; all when left out", parseU32)
    .option("-n, --last <n>", "start with the last n messages", wholeNumber({ min: 0, max: LAST_MAX }), 10)
    .option("-f, --first", "start with the oldest message instead")
    .option("--count <n>", "end after n messages", parseCount)
    .action(
      run(
        async (
          { client, output, world },
          stream: number | string,
          topic: number | string,
          partition: number | undefined,
          typed: TailTyped,
        ) => {
          const interruption = new AbortController();
          const release = world.onInterrupt(() => interruption.abort());
          try {
            const place = { stream, topic };
            const server = await client();
            const partitions = await partitionsOf(server, place, partition);
            const past = typed.first
              ? readersFromFirst(server, place, partitions)
              : await readersFromLast(server, { ...place, partitions, last: typed.last });
            await follow(past, { output, count: typed.count, signal: interruption.signal });
            return ExitCode.ok;
          } finally {
            release();
          }
        },
      ),
    );
};

async function partitionsOf(
  client: Client,
  { stream, topic }: { stream: number | string; topic: number | string },
  only: number | undefined,
): Promise<readonly number[]> {
  const { partitions } = await getTopic(client, stream, topic);
  return only === undefined ? partitions.map(({ id }) => id) : [only];
}

interface FollowOptions {
  readonly output: Output;
  readonly count: number | undefined;
  readonly signal: AbortSignal;
}

/** Prints what was there, then what comes, until the count is reached or the signal ends it. */
async function follow(
  past: { readonly messages: readonly ShownMessage[]; readonly readers: readonly PartitionReader[] },
  { output, count = Number.POSITIVE_INFINITY, signal }: FollowOptions,
): Promise<void> {
  const print = printerOf(output);
  let left = count;
  const printAll = async (messages: readonly ShownMessage[]) => {
    for (const message of messages.slice(0, left)) print(message);
    left -= messages.length;
    await output.drained();
  };
  const interrupted = new Promise<readonly ShownMessage[]>((resolve) => {
    signal.addEventListener("abort", () => resolve([]), { once: true });
  });
  await printAll(past.messages);
  while (left > 0 && !signal.aborted) {
    let isIdle = true;
    for (const reader of past.readers) {
      if (left <= 0 || signal.aborted) break;
      const messages = await Promise.race([quietly(reader.next()), interrupted]);
      if (messages.length > 0) isIdle = false;
      await printAll(messages);
    }
    if (isIdle) await sleep(IDLE_PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** A read that Ctrl-C overtook may fail later, when nobody waits for it any more. */
function quietly<T>(reading: Promise<T>): Promise<T> {
  reading.catch(() => {});
  return reading;
}

function printerOf(output: Output): (message: ShownMessage) => void {
  const fields = output.mode === "json" ? MESSAGE_JSON_FIELDS : [PARTITION_FIELD, ...MESSAGE_FIELDS];
  return output.rowStream(fields, [9, 10, 30, 39, 6]);
}
