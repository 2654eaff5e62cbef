import { openClient, startMillrace } from "./millrace-target.ts";
import { highestResidentBytesOf, residentBytesOf } from "./process-usage.ts";

const MESSAGES = 1000;
const PAYLOAD_LENGTH = 256;
const TOTAL_LENGTH = 1 << 30;
const SLICES = 16;
const MIB = 1 << 20;

/** Resident memory of the server while 1 GiB is produced and polled back, in MiB. */
export interface MemoryReport {
  readonly before: number;
  readonly afterEachSlice: readonly number[];
  readonly highest: number;
}

/** Lets 1 GiB flow through the server, each slice polled back after it was sent, and watches its memory. */
export async function benchMemory(): Promise<MemoryReport> {
  const target = await startMillrace();
  const { connection, requests } = await openClient(target.port);
  await connection.call(requests.createStream("bench"));
  await connection.call(requests.createTopic("bench", "t"));
  const send = requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH);
  const next = requests.rotate(send, 16);
  const perSlice = Math.ceil(TOTAL_LENGTH / send.length / SLICES);
  const before = residentBytesOf(target.pid) / MIB;
  const afterEachSlice: number[] = [];
  for (let slice = 0; slice < SLICES; slice++) {
    await connection.pump(perSlice, 8, next);
    const first = slice * perSlice;
    await connection.pump(perSlice, 8, (at) =>
      requests.poll("bench", "t", (first + at) * MESSAGES, MESSAGES),
    );
    afterEachSlice.push(Math.round(residentBytesOf(target.pid) / MIB));
  }
  const highest = Math.round(highestResidentBytesOf(target.pid) / MIB);
  connection.close();
  await target.stop();
  return { before: Math.round(before), afterEachSlice, highest };
}
