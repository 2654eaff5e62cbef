import type { VerifyDamage } from "@millrace/client";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { Client } from "../../connection/client.ts";
import { ExitCode } from "../../exit-codes.ts";
import { UsageError } from "../../failures/usage-error.ts";
import { describe, parseIdOrName } from "../../formats/id-or-name.ts";
import { sizeText } from "../../formats/size.ts";
import { parseU32 } from "../../formats/whole-number.ts";
import { type Field, properties, type Result, rows } from "../../output/result.ts";
import type { StoredPartition } from "../../verify/stopped-data.ts";
import { isDamaged, type VerifiedPartition, verifyToEnd } from "../../verify/verified-partition.ts";
import { onlineSteps } from "../../verify/verify-online.ts";
import { type AddCommand, leaf } from "../command.ts";
import { getTopic } from "./get.ts";

interface Typed {
  readonly partition?: number;
  readonly dataDir?: string;
}

/** What to look at; everything when nothing is named, which only a stopped server allows. */
interface Wanted {
  readonly stream: number | string | undefined;
  readonly topic: number | string | undefined;
  readonly partition: number | undefined;
}

/** `millrace topic verify [STREAM] [TOPIC]`: of a running server, or with `--data-dir` of a stopped one. */
export const addTopicVerify: AddCommand = (parent, run) => {
  leaf(parent, {
    name: "verify",
    summary: "check every checksum, and name file and position of what is damaged",
  })
    .argument("[stream]", "id or name; with --data-dir all when left out", parseIdOrName)
    .argument("[topic]", "id or name; with --data-dir all when left out", parseIdOrName)
    .option("-p, --partition <n>", "only this one", parseU32)
    .option("--data-dir <folder>", "look at the files of a stopped server in place of asking a running one")
    .action(
      run(
        async (
          { client, output },
          stream: number | string | undefined,
          topic: number | string | undefined,
          { partition, dataDir }: Typed,
        ) => {
          const wanted = { stream, topic, partition };
          const whole =
            dataDir === undefined ? await verifyOnline(client, wanted) : await verifyStopped(dataDir, wanted);
          output.show(resultOf(whole));
          const isWhole = whole.catalogFault === undefined && !whole.partitions.some(isDamaged);
          return isWhole ? ExitCode.ok : ExitCode.damaged;
        },
      ),
    );
};

/** What was looked at. */
interface Verification {
  readonly partitions: readonly VerifiedPartition[];
  /** Why a stopped server's catalog cannot be read. */
  readonly catalogFault: string | undefined;
}

async function verifyOnline(
  connect: () => Promise<Client>,
  { stream, topic, partition }: Wanted,
): Promise<Verification> {
  if (stream === undefined || topic === undefined) {
    throw new UsageError("Name STREAM and TOPIC; only with --data-dir may they be left out.");
  }
  const client = await connect();
  const { partitions } = await getTopic(client, stream, topic);
  const ids = partition === undefined ? partitions.map(({ id }) => id) : [partition];
  const verified: VerifiedPartition[] = [];
  for (const partitionId of ids) {
    const place = { stream, topic, partitionId };
    verified.push(await verifyToEnd(place, onlineSteps(client, place)));
  }
  return { partitions: verified, catalogFault: undefined };
}

async function verifyStopped(dataDir: string, wanted: Wanted): Promise<Verification> {
  // Loaded when it is needed: no other command opens files of a server.
  const { StoppedData } = await import("../../verify/stopped-data.ts");
  const data = await StoppedData.open(dataDir);
  try {
    const partitions = data.partitions.filter((one) => isWanted(one, wanted));
    const isNamed = [wanted.stream, wanted.topic, wanted.partition].some((one) => one !== undefined);
    if (partitions.length === 0 && isNamed) throw data.catalogFault ?? notThere(dataDir, wanted);
    const verified: VerifiedPartition[] = [];
    for (const partition of partitions) verified.push(await data.verify(partition));
    return { partitions: verified, catalogFault: data.catalogFault?.message };
  } finally {
    await data.close();
  }
}

function isWanted({ identity, streamName, topicName }: StoredPartition, wanted: Wanted): boolean {
  const { stream, topic, partition } = wanted;
  const isStream = stream === undefined || stream === identity.streamId || stream === streamName;
  const isTopic = topic === undefined || topic === identity.topicId || topic === topicName;
  return isStream && isTopic && (partition === undefined || partition === identity.partitionId);
}

function notThere(dataDir: string, { stream, topic, partition }: Wanted): CodedError {
  const parts = [
    ...(stream === undefined ? [] : [`stream ${describe(stream)}`]),
    ...(topic === undefined ? [] : [`topic ${describe(topic)}`]),
    ...(partition === undefined ? [] : [`partition ${partition}`]),
  ];
  const next = `See what there is with: millrace topic verify --data-dir ${dataDir}`;
  const message = `${dataDir} has no ${parts.join(", ")}.`;
  return new CodedError(ErrorCode.ResourceNotFound, message, { details: { next } });
}

type Total = Pick<VerifiedPartition, "bytes" | "batches" | "messages"> &
  Pick<Verification, "catalogFault"> & { readonly damages: number };

const TOTAL_FIELDS: readonly Field<Total>[] = [
  { name: "damages_count", title: "Damaged places", value: (total) => total.damages },
  {
    name: "bytes",
    title: "Bytes checked",
    value: ({ bytes }) => bytes,
    text: ({ bytes }) => sizeText(bytes),
  },
  { name: "batches", title: "Batches checked", value: ({ batches }) => batches },
  { name: "messages", title: "Messages checked", value: ({ messages }) => messages },
  { name: "catalog_fault", title: "Catalog damaged", value: ({ catalogFault }) => catalogFault ?? null },
];

const PARTITION_FIELDS: readonly Field<VerifiedPartition>[] = [
  { name: "stream", title: "Stream", value: ({ stream }) => stream },
  { name: "topic", title: "Topic", value: ({ topic }) => topic },
  { name: "partition_id", title: "Partition", value: ({ partitionId }) => partitionId },
  { name: "messages", title: "Messages", value: ({ messages }) => messages },
  { name: "bytes", title: "Bytes", value: ({ bytes }) => bytes },
  { name: "damages_count", title: "Damaged places", value: ({ damages }) => damages.length },
  { name: "fault", title: "Takes no writes because", value: ({ fault }) => (fault === "" ? null : fault) },
];

const DAMAGE_FIELDS: readonly Field<VerifyDamage>[] = [
  { name: "path", title: "File", value: ({ path }) => path },
  { name: "position", title: "Position", value: ({ position }) => position },
  { name: "kind", title: "Damaged", value: ({ kind }) => kind },
  { name: "offset", title: "First offset", value: ({ offset }) => offset ?? null },
];

function resultOf({ partitions: verified, catalogFault }: Verification): Result {
  const damages = verified.flatMap((partition) => partition.damages);
  const sum = (name: "bytes" | "batches" | "messages") =>
    verified.reduce((total, partition) => total + partition[name], 0);
  const total = {
    bytes: sum("bytes"),
    batches: sum("batches"),
    messages: sum("messages"),
    damages: damages.length,
    catalogFault,
  };
  return properties(TOTAL_FIELDS, total, {
    partitions: rows(PARTITION_FIELDS, verified, "There are no partitions."),
    damages: rows(DAMAGE_FIELDS, damages, "No damage found."),
  });
}
