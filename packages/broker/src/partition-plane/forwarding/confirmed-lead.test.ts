import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SimClock } from "@millrace/platform/sim";
import { quorums } from "@millrace/vsr";
import type { PartitionGroup } from "../partition-group.ts";
import { ConfirmedLeads, isInView, type LeadDone } from "./confirmed-lead.ts";

const TIMEOUT_MS = 100;

/** A question to another replica that is not answered yet. */
interface Question {
  readonly to: number;
  readonly group: PartitionGroup;
  readonly heard: LeadDone;
  isForgotten: boolean;
}

/** What a test changes of a group that this node leads. */
interface Led {
  isPrimary: boolean;
  isClosed: boolean;
  readonly replica: { status: string; view: number };
  readonly replication: { isStopped: boolean };
}

function led(): Led & PartitionGroup {
  const group: Led = {
    ...{ isPrimary: true, isClosed: false },
    replica: { status: "normal", view: 3 },
    replication: { isStopped: false },
  };
  return group as Led & PartitionGroup;
}

/** Confirmations of a group of so many replicas, and what they ask. */
function confirmations(replicaCount: number, { windowSize = 1000 } = {}) {
  const clock = new SimClock();
  const questions: Question[] = [];
  const window = { free: windowSize };
  const leads = new ConfirmedLeads({
    ...{ clock, timeoutMs: TIMEOUT_MS, quorum: quorums(replicaCount).replication },
    others: Array.from({ length: replicaCount - 1 }, (_, at) => at + 1),
    window: {
      begin: () => {
        if (window.free === 0) return false;
        window.free -= 1;
        return true;
      },
      end: () => {
        window.free += 1;
      },
    },
    ask: (to, group, heard) => questions.push({ to, group, heard, isForgotten: false }) - 1,
    forget: (call) => {
      (questions[call] as Question).isForgotten = true;
    },
  });
  const said: string[] = [];
  const confirm = (group: PartitionGroup, name = "") =>
    leads.confirm(group, (isConfirmed) => said.push(`${name}${isConfirmed ? "yes" : "no"}`));
  const answer = (at: number, isConfirmed: boolean) => (questions[at] as Question).heard(isConfirmed);
  return { clock, questions, window, said, confirm, answer };
}

describe("The confirmation that a node leads a group", () => {
  for (const [replicaCount, needed] of [
    [1, 0],
    [2, 1],
    [3, 1],
    [5, 2],
  ] as const) {
    it(`takes ${needed} others of ${replicaCount} replicas.`, () => {
      const { said, confirm, answer, questions, window } = confirmations(replicaCount);
      confirm(led());
      assert.equal(questions.length, needed === 0 ? 0 : replicaCount - 1);
      for (let at = 0; at < needed; at += 1) {
        assert.deepEqual(said, []);
        answer(at, true);
      }
      assert.deepEqual([said, window.free], [["yes"], 1000]);
      assert.ok(questions.slice(needed).every(({ isForgotten }) => isForgotten));
    });
  }

  it("fails as soon as too many have refused.", () => {
    const { said, confirm, answer } = confirmations(5);
    confirm(led());
    answer(0, true);
    answer(1, false);
    answer(2, false);
    assert.deepEqual(said, []);
    answer(3, false);
    assert.deepEqual(said, ["no"]);
  });

  it("is not that of a view before or behind, nor of a group that was removed meanwhile.", () => {
    for (const change of [
      (group: Led) => Object.assign(group.replica, { view: 6 }),
      (group: Led) => Object.assign(group, { isPrimary: false }),
      (group: Led) => Object.assign(group, { isClosed: true }),
    ]) {
      const { said, confirm, answer } = confirmations(3);
      const group = led();
      confirm(group);
      change(group);
      answer(0, true);
      assert.deepEqual(said, ["no"]);
    }
  });

  it("is shared by those who ask before it has begun, and not with those who ask later.", () => {
    const { said, confirm, answer, questions } = confirmations(3);
    const group = led();
    confirm(group, "a ");
    confirm(group, "b ");
    confirm(group, "c ");
    assert.equal(questions.length, 2);
    answer(0, true);
    assert.deepEqual([said, questions.length], [["a yes"], 4]);
    answer(2, false);
    answer(3, false);
    assert.deepEqual(said, ["a yes", "b no", "c no"]);
    confirm(group, "d ");
    answer(5, true);
    assert.deepEqual(said.at(-1), "d yes");
  });

  it("is asked anew by who hears the answer and asks again.", () => {
    const { said, confirm, answer, questions } = confirmations(3);
    const group = led();
    confirm(group, "a ");
    confirm(group, "b ");
    answer(0, true);
    confirm(group, "c ");
    answer(2, true);
    assert.deepEqual([said, questions.length], [["a yes", "b yes"], 6]);
    answer(4, true);
    assert.deepEqual(said, ["a yes", "b yes", "c yes"]);
  });

  it("is asked for 64 groups at once, the others in turn; who waits too long hears no.", async () => {
    const { clock, said, confirm, answer, questions, window } = confirmations(3);
    for (let at = 0; at < 70; at += 1) confirm(led());
    assert.deepEqual([questions.length, window.free], [128, 936]);
    answer(0, true);
    assert.deepEqual([questions.length, said], [130, ["yes"]]);
    await clock.run(TIMEOUT_MS + 1);
    answer(2, true);
    assert.deepEqual(
      [questions.length, said],
      [130, ["yes", "yes", "no", "no", "no", "no", "no"].sort().reverse()],
    );
  });

  it("fails where there is no room for a question, and works again when there is.", () => {
    const { said, confirm, answer, window } = confirmations(3, { windowSize: 0 });
    const group = led();
    confirm(group);
    assert.deepEqual(said, ["no"]);
    window.free = 1;
    confirm(group);
    answer(0, true);
    assert.deepEqual([said, window.free], [["no", "yes"], 1]);
  });

  it("is given by a replica that takes part in exactly that view.", () => {
    const group = led();
    assert.deepEqual([isInView(group, 3), isInView(group, 2), isInView(group, 4)], [true, false, false]);
    group.replication.isStopped = true;
    assert.equal(isInView(group, 3), false);
    group.replication.isStopped = false;
    group.replica.status = "view-change";
    assert.equal(isInView(group, 3), false);
  });
});
