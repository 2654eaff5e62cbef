import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { GOALS } from "./goals.ts";
import { makeDataFolder, openClient, startMillrace } from "./millrace-target.ts";
import { median } from "./process-usage.ts";
import type { WallFigure } from "./wall-figure.ts";

const MESSAGES = 1000;
const PAYLOAD_LENGTH = 256;
/** 304,768 bytes each: 258 MiB a run. */
const REQUESTS = 888;
const IN_FLIGHT = 8;
const PIECE_LENGTH = 1 << 20;

/** Produce 1000 x 256 B, confirmed after the sync, against a disk that writes and syncs the same bytes. */
export async function benchPersisted(rounds: number): Promise<WallFigure> {
  const folder = await makeDataFolder();
  const target = await startMillrace();
  const { connection, requests } = await openClient(target.port);
  const request = requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH);
  const next = requests.rotate(request, IN_FLIGHT * 2);
  const total = REQUESTS * request.length;
  const [ours, limit]: [number[], number[]] = [[], []];
  // The disk needs no compiler: one round warms both sides up as far as they get warm.
  for (let round = -1; round < rounds; round++) {
    const limitMs = await timed(() => writeAndSync(join(folder, "disk"), total));
    await connection.call(requests.createStream("bench"));
    await connection.call(requests.createTopic("bench", "t", 1, "persisted"));
    const ourMs = await timed(() => connection.pump(REQUESTS, IN_FLIGHT, next));
    await connection.call(requests.deleteStream("bench"));
    if (round < 0) continue;
    limit.push(limitMs);
    ours.push(ourMs);
  }
  connection.close();
  await target.stop();
  await rm(folder, { recursive: true });
  const speed = (times: readonly number[]) => total / median(times) / 1000;
  return {
    name: "produce 1000 x 256 B, persisted",
    againstName: "disk: write and fdatasync of 1 MiB pieces",
    unit: "MB/s",
    ours: speed(ours),
    against: speed(limit),
    ratio: speed(ours) / speed(limit),
    goal: GOALS.persisted,
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

async function writeAndSync(path: string, total: number): Promise<void> {
  const piece = Buffer.alloc(PIECE_LENGTH, 7);
  const file = await open(path, "w");
  for (let left = total; left > 0; left -= PIECE_LENGTH) {
    await file.write(piece, 0, Math.min(left, PIECE_LENGTH));
    await file.datasync();
  }
  await file.close();
  await rm(path);
}
