import type { Client } from "../../connection/client.ts";
import { ExitCode } from "../../exit-codes.ts";
import { UsageError } from "../../failures/usage-error.ts";
import { parseIdOrName } from "../../formats/id-or-name.ts";
import { collectFilter, type MessageFilter } from "../../formats/message-filter.ts";
import { parseCount, parseU32, wholeNumber } from "../../formats/whole-number.ts";
import { type AddCommand, leaf } from "../command.ts";
import { getTopic } from "../topic/get.ts";
import { followGroup } from "./follow-group.ts";
import { followPartitions, type TailStart } from "./follow-partitions.ts";
import { readersFromFirst, readersFromLast } from "./partition-reader.ts";
import { TailPrinter } from "./tail-printer.ts";

/** Most messages of the past that one partition shows first; more belongs to `poll` or `--first`. */
const LAST_MAX = 100_000;
const LAST_DEFAULT = 10;

interface TailTyped {
  readonly last?: number;
  readonly first?: true;
  readonly count?: number;
  readonly filter?: readonly MessageFilter[];
  readonly group?: number | string;
}

interface Place {
  readonly stream: number | string;
  readonly topic: number | string;
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
    .option(
      "-n, --last <n>",
      `start with the last n messages (default: ${LAST_DEFAULT})`,
      wholeNumber({ min: 0, max: LAST_MAX }),
    )
    .option("-f, --first", "start with the oldest message instead")
    .option("--count <n>", "end after n messages", parseCount)
    .option(
      "--filter <filter>",
      "only messages with HEADER=VALUE, .json.field=VALUE or /regex/; repeatable",
      collectFilter,
    )
    .option(
      "--group <group>",
      "read as a member of this group, made when it is not there, and commit what was shown",
      parseIdOrName,
    )
    .action(
      run(
        async (
          { client, output, world },
          stream: number | string,
          topic: number | string,
          partition: number | undefined,
          typed: TailTyped,
        ) => {
          checkGroup(typed, partition);
          const interruption = new AbortController();
          const { signal } = interruption;
          const release = world.onInterrupt(() => interruption.abort());
          const printer = new TailPrinter(output, typed.filter ?? [], typed.count);
          const place = { stream, topic };
          try {
            const server = await client();
            const { group } = typed;
            if (group !== undefined) await followGroup(server, { ...place, group }, { printer, signal });
            else
              await followPartitions(await startOf(server, place, { ...typed, partition }), printer, signal);
            return ExitCode.ok;
          } finally {
            release();
          }
        },
      ),
    );
};

/** A group decides by itself where each of its members reads. */
function checkGroup({ group, first, last }: TailTyped, partition: number | undefined): void {
  const isChosen = partition !== undefined || first !== undefined || last !== undefined;
  if (group === undefined || !isChosen) return;
  throw new UsageError("With --group the group says where to read: leave out PARTITION, --first and --last.");
}

async function startOf(
  client: Client,
  place: Place,
  { partition, first, last = LAST_DEFAULT }: TailTyped & { readonly partition: number | undefined },
): Promise<TailStart> {
  const partitions = await partitionsOf(client, place, partition);
  if (first === true) return readersFromFirst(client, place, partitions);
  return readersFromLast(client, { ...place, partitions, last });
}

async function partitionsOf(
  client: Client,
  { stream, topic }: Place,
  only: number | undefined,
): Promise<readonly number[]> {
  const { partitions } = await getTopic(client, stream, topic);
  return only === undefined ? partitions.map(({ id }) => id) : [only];
}
