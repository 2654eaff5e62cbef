import { SimDisk } from "@millrace/platform/sim";
import { syncUpwards } from "../data-directory/durable-directory.ts";
import { Bench, type BenchOptions, name, PATH, type Seen } from "../partition/partition-fixture.test.ts";

/** Several segments of some messages each, the newest of them with some too. */
export async function filled(options: BenchOptions = {}) {
  const disk = new SimDisk({ seed: 1 });
  const bench = await Bench.open({ segmentLengthMax: 1000, tailLengthMax: 0, disk, ...options });
  await syncUpwards(bench.disk, PATH);
  const all: Seen[] = [];
  while (bench.partition.segmentCount < 4 || all.length % 3 !== 0) {
    const text = `message ${all.length}`;
    all.push({ offset: await bench.append([text]), text });
  }
  return { bench, all };
}

/** First offsets of the segments whose files are there, oldest first. */
export async function segmentsOf(bench: Bench): Promise<number[]> {
  const names = await bench.fileNames();
  return names
    .filter((one) => one.endsWith(".ops"))
    .map((one) => Number(one.slice(0, 20)))
    .sort((a, b) => a - b);
}

export async function remove(bench: Bench, first: number, kinds = ["log", "ops", "index"]): Promise<void> {
  for (const kind of kinds) await bench.disk.removeFile(`${PATH}/${name(first, kind)}`);
}

/** How a process ends. */
export type End = (bench: Bench) => Promise<void>;

export const kill: End = async (bench) => {
  bench.disk = bench.disk.kill();
  await bench.abandon();
};

export const NOTE_LENGTH = 128;
/** The kind of the record that notes the next segment. */
export const NOTE_KIND = 6;

/** Cuts a segment's note off, as a release before would have left the file. */
export async function withoutNote(bench: Bench, first: number): Promise<void> {
  const bytes = await bench.fileBytes(name(first, "ops"));
  if (bytes[bytes.length - NOTE_LENGTH + 13] === NOTE_KIND)
    await bench.setFile(name(first, "ops"), bytes.subarray(0, -NOTE_LENGTH));
}

/** Opens as a replica does and answers how often it heard that its newest segment is gone. */
export async function openReplica(bench: Bench): Promise<number> {
  let told = 0;
  const onSegmentGone = async () => {
    told += 1;
  };
  await bench.openUncommitted({ isReplica: true, onSegmentGone });
  return told;
}
