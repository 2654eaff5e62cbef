import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError, ErrorCode } from "@millrace/errors";
import { SimClock } from "@millrace/platform/sim";
import { OffsetCommits } from "./offset-commits.ts";

/** Commits whose stores wait until they are let go; `asked` are the offsets in the order they were sent. */
function heldCommits() {
  const asked: number[] = [];
  const waiting: (() => void)[] = [];
  const commits = new OffsetCommits({
    clock: new SimClock(),
    intervalMs: 1000,
    countMax: 1,
    store: (_partitionId, offset) => {
      asked.push(offset);
      return new Promise((resolve) => waiting.push(resolve));
    },
    isConnected: () => true,
    isEnded: () => false,
  });
  return { commits, asked, letGo: () => waiting.shift()?.() };
}

const turns = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

test("what was stored last is not stored again behind a newer offset that is on its way", async () => {
  const { commits, asked, letGo } = heldCommits();
  let stored = 14;
  commits.settle(2, 19);
  const again = commits.commitAgain(2, () => stored);
  await turns();
  assert.deepEqual(asked, [19], "14 would set the group back");
  stored = 19;
  letGo();
  await turns();
  assert.deepEqual(asked, [19, 19]);
  letGo();
  await again;
});

test("what is settled meanwhile is stored first, and then that is the last one stored", async () => {
  const { commits, asked, letGo } = heldCommits();
  let stored = 14;
  commits.settle(2, 19);
  const again = commits.commitAgain(2, () => stored);
  commits.settle(2, 20);
  letGo();
  await turns();
  assert.deepEqual(asked, [19, 20]);
  stored = 20;
  letGo();
  await turns();
  assert.deepEqual(asked, [19, 20, 20]);
  letGo();
  await again;
});

test("a newer offset waits while the last one is stored again: refused for a moment, that would come behind it", async () => {
  const { commits, asked, letGo } = heldCommits();
  const again = commits.commitAgain(2, () => 14);
  await turns();
  commits.settle(2, 19);
  const flushed = commits.flush();
  await turns();
  assert.deepEqual(asked, [14]);
  letGo();
  await again;
  await turns();
  assert.deepEqual(asked, [14, 19], "and it goes as soon as it may");
  letGo();
  await flushed;
});

test("a flush stores what is settled, also behind one that stores the last offset again", async () => {
  const { commits, asked, letGo } = heldCommits();
  commits.settle(0, 5);
  const again = commits.commitAgain(2, () => 14);
  const flushed = commits.flush();
  commits.settle(1, 7);
  for (const expected of [[5], [5, 7], [5, 7, 14]]) {
    await turns();
    assert.deepEqual(asked, expected);
    letGo();
  }
  await Promise.all([again, flushed]);
});

test("with nothing stored and nothing settled nothing is stored again, and a refusal is no error", async () => {
  const commits = new OffsetCommits({
    ...{
      clock: new SimClock(),
      intervalMs: 1000,
      countMax: 1,
      isConnected: () => true,
      isEnded: () => false,
    },
    store: () => Promise.reject(new Error("refused")),
  });
  await commits.commitAgain(0, () => undefined);
  await commits.commitAgain(0, () => 7);
  assert.equal(commits.takeError(), undefined);
});

/** Commits whose stores fail or succeed when they are told; without a connection a failure may pass. */
function failingCommits() {
  const asked: string[] = [];
  const waiting: ((error?: CodedError) => void)[] = [];
  const commits = new OffsetCommits({
    ...{
      clock: new SimClock(),
      intervalMs: 1000,
      countMax: 1,
      isConnected: () => false,
      isEnded: () => false,
    },
    store: (partitionId, offset) => {
      asked.push(`${partitionId}: ${offset}`);
      return new Promise((resolve, reject) => {
        waiting.push((error) => (error === undefined ? resolve() : reject(error)));
      });
    },
  });
  return { commits, asked, end: (error?: CodedError) => waiting.shift()?.(error) };
}

test("an offset of a log that was purged does not come back when its store fails later", async () => {
  for (const code of [ErrorCode.Disconnected, ErrorCode.Unauthorized]) {
    const { commits, asked, end } = failingCommits();
    commits.settle(2, 19);
    commits.forget(2);
    end(new CodedError(code));
    await turns();
    assert.equal(commits.takeError(), undefined);
    await commits.flush();
    assert.deepEqual(asked, ["2: 19"]);
  }
});

test("what is settled of the new log is kept, also behind a store of the old one that fails", async () => {
  const { commits, asked, end } = failingCommits();
  commits.settle(2, 19);
  commits.forget(2);
  commits.settle(2, 0);
  end(new CodedError(ErrorCode.Disconnected));
  await turns();
  assert.deepEqual(asked, ["2: 19", "2: 0"]);
  end(new CodedError(ErrorCode.Disconnected));
  await turns();
  const flushed = commits.flush();
  await turns();
  assert.deepEqual(asked, ["2: 19", "2: 0", "2: 0"], "a store that fails is tried again as ever");
  end();
  await flushed;
});

test("a flush fails while the connection is lost; one that may be late does not, and both keep the offset", async () => {
  const { commits, asked, end } = failingCommits();
  const lost = () => end(new CodedError(ErrorCode.RequestTimeout));
  commits.settle(2, 19);
  const strict = commits.flush();
  const rejected = assert.rejects(strict, (error) => (error as CodedError).code === ErrorCode.RequestTimeout);
  lost();
  await turns();
  lost();
  await rejected;
  const late = commits.flushIfConnected();
  await turns();
  lost();
  await late;
  const flushed = commits.flush();
  await turns();
  end();
  await flushed;
  assert.deepEqual(
    asked,
    Array.from({ length: 4 }, () => "2: 19"),
  );
});

test("finish does not wait once more for a connection that a commit waited for in vain", async () => {
  const { commits, asked, end } = failingCommits();
  commits.settle(2, 19);
  end(new CodedError(ErrorCode.RequestTimeout, "No answer."));
  await turns();
  await assert.rejects(
    commits.finish(),
    /^RequestTimeout: Offset 19 of partition 2 was not stored\. No answer\./,
  );
  assert.deepEqual(asked, ["2: 19"]);
});

test("a commit that ran out of time on a busy connection is tried again; one that was refused ends the loop", async () => {
  const answers = [ErrorCode.RequestTimeout, ErrorCode.OutcomeUnknown, ErrorCode.Unauthorized];
  const clock = new SimClock();
  let isEnded = false;
  const commits = new OffsetCommits({
    ...{ clock, intervalMs: 1000, countMax: 1000, isConnected: () => true, isEnded: () => isEnded },
    store: () => Promise.reject(new CodedError(answers.shift() as number)),
  });
  commits.settle(0, 7);
  for (const errors of [[], [], [ErrorCode.Unauthorized]]) {
    await clock.run(1000);
    const error = commits.takeError();
    assert.deepEqual(error === undefined ? [] : [error.code], errors);
  }
  isEnded = true;
  answers.push(ErrorCode.RequestTimeout);
  await assert.rejects(commits.flush());
  await clock.run(5000);
  assert.equal(answers.length, 0, "nothing is tried again for a client that ended");
});

const KEPT = /was not stored\. .* The offset is kept and goes with the next commit; /;
const COMES_AGAIN =
  /was not stored\. .* Its message comes again to whoever reads on from the stored offset\.$/;

test("an offset that is not stored is told to go with the next commit exactly as long as there is one", async () => {
  for (const code of [ErrorCode.Unauthorized, ErrorCode.RequestTimeout]) {
    let [refusal, isEnded]: [CodedError | undefined, boolean] = [new CodedError(code), false];
    const stored: number[] = [];
    const commits = new OffsetCommits({
      ...{ clock: new SimClock(), intervalMs: 1000, countMax: 1000 },
      ...{ isConnected: () => true, isEnded: () => isEnded },
      store: async (_partitionId, offset) => {
        if (refusal !== undefined) throw refusal;
        stored.push(offset);
      },
    });
    commits.settle(0, 7);
    await assert.rejects(commits.flush(), KEPT);
    refusal = undefined;
    await commits.flush();
    assert.deepEqual(stored, [7], "it went with the next commit");
    commits.settle(0, 8);
    refusal = new CodedError(code);
    await assert.rejects(commits.finish(), COMES_AGAIN);
    await assert.rejects(commits.finish(), COMES_AGAIN);
    isEnded = true;
    await assert.rejects(commits.flush(), COMES_AGAIN);
  }
});

test("close tells what became of the offsets, not what a commit in the background met before", async () => {
  const clock = new SimClock();
  const answers: (CodedError | undefined)[] = [new CodedError(ErrorCode.Unauthorized), undefined];
  const commits = new OffsetCommits({
    ...{ clock, intervalMs: 1000, countMax: 1000, isConnected: () => true, isEnded: () => false },
    store: async () => {
      const refusal = answers.shift();
      if (refusal !== undefined) throw refusal;
    },
  });
  commits.settle(0, 7);
  await clock.run(1000);
  await commits.finish();
  assert.equal(answers.length, 0, "it was tried again");
  assert.equal(commits.takeError(), undefined);
});
