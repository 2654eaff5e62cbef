import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { isCodedError } from "@millrace/errors";
import { NodeDisk } from "@millrace/platform/node";
import { SimClock } from "@millrace/platform/sim";
import { LOG_FILE, oldLogName, readLogTail } from "./log-files.ts";
import { type LogFileLimits, RotatingFiles } from "./rotating-files.ts";

const DAY_MS = 86_400_000;
const NO_LIMITS: LogFileLimits = { fileLengthMax: 0, totalLengthMax: 0, retentionMs: 0, checkEveryMs: 0 };

async function inFolder(
  limits: Partial<LogFileLimits>,
  body: (files: RotatingFiles, folder: string, clock: SimClock) => Promise<void>,
  prepare: (folder: string, clock: SimClock) => Promise<void> = async () => {},
): Promise<void> {
  const folder = join(await mkdtemp(join(tmpdir(), "millrace-log-")), "logs");
  const clock = new SimClock();
  try {
    await prepare(folder, clock);
    const onTrouble = (error: Error) => assert.fail(error);
    const disk = new NodeDisk(folder);
    const files = await RotatingFiles.open({ disk, clock, limits: { ...NO_LIMITS, ...limits }, onTrouble });
    await body(files, folder, clock);
  } finally {
    await rm(join(folder, ".."), { recursive: true, force: true });
  }
}

const line = (text: string) => `${JSON.stringify({ msg: text })}\n`;

test("Lines are appended in order to a file for the server's own user only.", async () => {
  await inFolder({}, async (files, folder) => {
    for (const text of ["one", "two", "three"]) files.write(line(text));
    await files.close();
    assert.equal(await readFile(join(folder, LOG_FILE), "utf8"), line("one") + line("two") + line("three"));
    assert.equal((await stat(join(folder, LOG_FILE))).mode & 0o777, 0o600);
  });
});

test("A process about to end writes what waits before it goes on; a line on its way may come behind it.", async () => {
  await inFolder({}, async (files, folder) => {
    files.write(line("on its way"));
    files.write(line("waits"));
    files.flushNow();
    assert.ok((await readFile(join(folder, LOG_FILE), "utf8")).includes(line("waits")));
    files.write(line("later"));
    await files.close();
    const written = (await readFile(join(folder, LOG_FILE), "utf8")).split("\n").toSorted();
    assert.deepEqual(written, ["", ...["later", "on its way", "waits"].map((text) => line(text).trim())]);
  });
});

/** Waits until there are so many files and one of them has the text. */
async function untilWritten(folder: string, text: string, filesCount: number): Promise<void> {
  const endMs = performance.now() + 10_000;
  for (;;) {
    const names = await readdir(folder);
    const contents = await Promise.allSettled(names.map((name) => readFile(join(folder, name), "utf8")));
    // One that is put aside between the two calls is found in the next round.
    const isThere = contents.some((one) => one.status === "fulfilled" && one.value.includes(text));
    if (isThere && names.length === filesCount) return;
    assert.ok(performance.now() < endMs, `${text} and ${filesCount} files are there in time: ${names}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("A full file is put aside, a new one is begun, no line is lost, and the tail has them in order.", async () => {
  await inFolder({ fileLengthMax: 1000 }, async (files, folder, clock) => {
    let expected = "";
    for (let round = 0; round < 4; round++) {
      for (let index = 0; index < 60; index++) {
        files.write(line(`${round}-${index}`));
        expected += line(`${round}-${index}`);
      }
      await clock.run(5);
      // A round has 890 bytes, so each but the first one fills a file.
      await untilWritten(folder, `"${round}-59"`, round + 1);
    }
    await files.close();
    const names = (await readdir(folder)).sort();
    assert.ok(names.length >= 4, names.join());
    assert.equal(names.at(-1), LOG_FILE);
    assert.equal(await readLogTail(new NodeDisk(folder)), expected);
    const tail = await readLogTail(new NodeDisk(folder), 500);
    assert.ok(
      tail.length > 450 && tail.length <= 500 && expected.endsWith(tail) && tail.startsWith("{"),
      tail,
    );
  });
});

test("A file of an earlier start is continued and counts towards its length.", async () => {
  const prepare = async (folder: string) => {
    await mkdir(folder);
    await writeFile(join(folder, LOG_FILE), "x".repeat(995));
  };
  await inFolder(
    { fileLengthMax: 1000 },
    async (files, folder) => {
      files.write(line("over"));
      await files.close();
      const old = (await readdir(folder)).find((name) => name !== LOG_FILE);
      assert.equal((await readFile(join(folder, old ?? ""), "utf8")).length, 995 + line("over").length);
    },
    prepare,
  );
});

test("Old files go when they are past their time or too many together; files of others stay.", async () => {
  const files = ["2020", "2021"].map((year) => oldLogName(Date.parse(`${year}-01-01`) * 1000));
  const prepare = async (folder: string, clock: SimClock) => {
    await mkdir(folder);
    for (const name of [...files, "diary.txt"]) await writeFile(join(folder, name), "x".repeat(100));
    await writeFile(join(folder, oldLogName(clock.wallMicros() - DAY_MS * 1000)), "x".repeat(100));
  };
  const left = (limits: Partial<LogFileLimits>, wait = 0) => {
    let names: string[] = [];
    const body = async (log: RotatingFiles, folder: string, clock: SimClock) => {
      await clock.run(wait);
      await log.close();
      names = (await readdir(folder)).filter((name) => name !== LOG_FILE);
    };
    return inFolder(limits, body, prepare).then(() => names.sort());
  };
  assert.equal((await left({})).length, 4);
  assert.equal((await left({ totalLengthMax: 250 })).length, 3);
  assert.deepEqual(await left({ totalLengthMax: 50 }), ["diary.txt"]);
  assert.equal((await left({ retentionMs: 7 * DAY_MS })).length, 2);
  const later = { retentionMs: 2 * DAY_MS, checkEveryMs: DAY_MS };
  assert.equal((await left(later)).length, 2);
  assert.deepEqual(await left(later, 2.5 * DAY_MS), ["diary.txt"], "looked at again after the interval");
});

test("A folder that cannot be made is refused with its path.", async () => {
  const prepare = (folder: string) => writeFile(folder, "a file in its place");
  await assert.rejects(
    inFolder({}, async () => {}, prepare),
    (error) => isCodedError(error) && /make directory|EEXIST|logs/.test(error.message),
  );
});
