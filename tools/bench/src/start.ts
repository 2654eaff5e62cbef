import { rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type CeilingFigure, PARTITIONS_IDLE, START } from "./ceilings.ts";
import { makeDataFolder, openClient, startMillraceOn } from "./millrace-target.ts";
import { cpuNanosOf, median, residentBytesOf } from "./process-usage.ts";

const MESSAGES = 1000;
const PAYLOAD_LENGTH = 256;
const TOTAL_LENGTH = 1 << 30;
const IN_FLIGHT = 8;
const SETTLE_MS = 2_000;

/** How long the server takes from its start to its first reply with 1 GiB of messages, after two ends. */
export async function benchStart(rounds: number): Promise<CeilingFigure[]> {
  const folder = await makeDataFolder();
  await fillFolder(folder);
  const clean: StartTime[] = [];
  const crashed: StartTime[] = [];
  for (let round = 0; round < rounds; round++) {
    clean.push(await startAndEnd(folder, "kill"));
    crashed.push(await startAndEnd(folder, "stop"));
  }
  await rm(folder, { recursive: true });
  return [
    { name: "start with 1 GiB after a clean stop", ...medianStart(clean), ...START.clean },
    { name: "start with 1 GiB after a crash", ...medianStart(crashed), ...START.crashed },
  ];
}

/** Memory that an idle partition takes, and the start of a server that has 1,000. */
export async function benchPartitions(rounds: number): Promise<CeilingFigure[]> {
  const folder = await makeDataFolder();
  const memory = await memoryOfPartitions(folder);
  const starts: StartTime[] = [];
  for (let round = 0; round < rounds; round++) starts.push(await startAndEnd(folder, "stop"));
  await rm(folder, { recursive: true });
  return [
    { name: "memory of an idle partition", unit: "KiB", value: memory / 1024, ...PARTITIONS_IDLE.memory },
    { name: "start with 1,000 partitions", ...medianStart(starts), ...PARTITIONS_IDLE.start },
  ];
}

async function fillFolder(folder: string): Promise<void> {
  const target = await startMillraceOn(folder);
  const { connection, requests } = await openClient(target.port);
  await connection.call(requests.createStream("bench"));
  await connection.call(requests.createTopic("bench", "t"));
  const request = requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH);
  const count = Math.ceil(TOTAL_LENGTH / request.length);
  await connection.pump(count, IN_FLIGHT, requests.rotate(request, IN_FLIGHT * 2));
  connection.close();
  await target.stop();
}

interface StartTime {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

function medianStart(starts: readonly StartTime[]) {
  const value = median(starts.map(({ seconds }) => seconds));
  return { unit: "s", value, cpuSeconds: median(starts.map(({ cpuSeconds }) => cpuSeconds)) } as const;
}

/** The time from the start of the process to the reply to a login; then it ends in one way or the other. */
async function startAndEnd(folder: string, end: "stop" | "kill"): Promise<StartTime> {
  const before = performance.now();
  const target = await startMillraceOn(folder);
  const { connection } = await openClient(target.port);
  const seconds = (performance.now() - before) / 1000;
  const cpuSeconds = cpuNanosOf(target.pid) / 1e9;
  connection.close();
  await target[end]();
  return { seconds, cpuSeconds };
}

/** Bytes of resident memory that 1,000 partitions with a message each add, divided by their number. */
async function memoryOfPartitions(folder: string): Promise<number> {
  const target = await startMillraceOn(folder);
  const { connection, requests } = await openClient(target.port);
  await touchMessageMemory(connection, requests);
  const before = residentBytesOf(target.pid);
  await connection.call(requests.createStream("bench"));
  await connection.call(requests.createTopic("bench", "t", PARTITIONS_IDLE.count));
  for (let partitionId = 0; partitionId < PARTITIONS_IDLE.count; partitionId++) {
    await connection.call(requests.send("bench", "t", 1, PAYLOAD_LENGTH, partitionId));
  }
  await sleep(SETTLE_MS);
  const after = residentBytesOf(target.pid);
  connection.close();
  await target.stop();
  return (after - before) / PARTITIONS_IDLE.count;
}

type Client = Awaited<ReturnType<typeof openClient>>;

/** The system hands out message memory page by page; what is not the partitions' is touched before. */
async function touchMessageMemory(
  connection: Client["connection"],
  requests: Client["requests"],
): Promise<void> {
  await connection.call(requests.createStream("warm"));
  await connection.call(requests.createTopic("warm", "t"));
  const request = requests.send("warm", "t", MESSAGES, PAYLOAD_LENGTH);
  await connection.pump(3000, IN_FLIGHT, requests.rotate(request, IN_FLIGHT * 2));
  await connection.call(requests.deleteStream("warm"));
  await sleep(SETTLE_MS);
}
