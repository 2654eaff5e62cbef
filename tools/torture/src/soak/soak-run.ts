import { setTimeout as sleep } from "node:timers/promises";
import { MillraceClient } from "@millrace/client";
import type { SeededRandom } from "@millrace/testkit";
import { withinTime } from "../deadline.ts";
import { Violation } from "../oracle/violation.ts";
import { HandledMessages, type HandledReport } from "./handled-messages.ts";
import { MemberProcess } from "./member-process.ts";
import { GRACE_MS, HAND_OVER_LIMIT_MS, SOAK_PARTITIONS, SOAK_PLACE } from "./soak-place.ts";

const MEMBERS_MIN = 2;
const MEMBERS_MAX = 6;
/** A freeze may be shorter or longer than what the server forgives. */
const FREEZE_MAX_MS = 9000;
/** Two members in a row that freeze with the same partition would wait twice: the second one comes later. */
const AFTER_FREEZE_MS = HAND_OVER_LIMIT_MS + 2500;
/** What happens to members when none has to join; crashes and freezes are what a group is tried by. */
const TROUBLES: readonly Happening[] = ["leave", "crash", "crash", "freeze", "freeze", "destroyed socket"];
/** Processes start slowly on a busy machine; nothing is sent before. */
const START_MAX_MS = 60_000;
const SEND_INTERVAL_MS = 25;
const BATCH_COUNT = 5;
const WAIT_MAX_MS = HAND_OVER_LIMIT_MS + GRACE_MS;

/** What may happen to a group. */
export type Happening = "join" | "leave" | "crash" | "freeze" | "destroyed socket";

/** How long a soak lasts and how much happens in it. */
export interface SoakLength {
  readonly minutes: number;
  /** Joins, leaves, crashes, freezes and destroyed sockets together. */
  readonly events: number;
}

/** How a soak went. */
export interface SoakReport extends HandledReport {
  readonly happenings: Readonly<Record<Happening, number>>;
}

/** A steady producer, and members of one group that join, leave, crash, freeze and lose sockets at random. */
export class SoakRun {
  readonly #address: string;
  readonly #random: SeededRandom;
  readonly #messages = new HandledMessages(SOAK_PARTITIONS);
  readonly #members: MemberProcess[] = [];
  readonly #thaws = new Set<Promise<void>>();
  readonly #happenings = { join: 0, leave: 0, crash: 0, freeze: 0, "destroyed socket": 0 };
  #isSending = true;
  #nextFreezeMs = 0;
  readonly #troubles: Happening[] = [];

  constructor(address: string, random: SeededRandom) {
    this.#address = address;
    this.#random = random;
  }

  /** Runs for a while, then waits until everything is read. Throws Violation unread, consumer-offset. */
  async run({ minutes, events }: SoakLength): Promise<SoakReport> {
    const client = await MillraceClient.connect(`iggy://iggy:iggy@${this.#address}`);
    await client.createStream(SOAK_PLACE.stream);
    await client.createTopic(SOAK_PLACE.stream, {
      name: SOAK_PLACE.topic,
      partitionsCount: SOAK_PARTITIONS,
    });
    for (let count = 0; count < MEMBERS_MIN; count += 1) this.#join();
    await withinTime("the first members' join", START_MAX_MS, this.#allPresent());
    const sending = this.#send(client);
    sending.catch(() => {});
    const beginMs = performance.now();
    const intervalMs = (minutes * 60_000) / events;
    for (let event = 0; event < events; event += 1) {
      const dueMs = beginMs + intervalMs * (event + this.#random.fraction());
      await sleep(Math.max(0, dueMs - performance.now()));
      this.#happen();
    }
    await sleep(Math.max(0, beginMs + minutes * 60_000 - performance.now()));
    this.#isSending = false;
    await sending;
    await Promise.all(this.#thaws);
    const lag = await this.#readRest(client);
    const report = this.#messages.check(WAIT_MAX_MS);
    if (lag !== undefined) throw new Violation("consumer-offset", `the group has a lag at the end: ${lag}`);
    await this.#leaveAll();
    await client.close();
    return { ...report, happenings: this.#happenings };
  }

  /** Ends every member at once. */
  killAll(): void {
    for (const member of this.#members) if (member.isAlive) member.crash();
  }

  async #send(client: MillraceClient): Promise<void> {
    for (let turn = 0; this.#isSending; turn += 1) {
      const partition = turn % SOAK_PARTITIONS;
      const messages = Array.from({ length: BATCH_COUNT }, (_, index) => ({ payload: `${turn}-${index}` }));
      const [confirmation] = await client.sendMessages({
        ...SOAK_PLACE,
        partitioning: { partition },
        messages,
      });
      const baseOffset = Number(confirmation?.baseOffset);
      this.#messages.sent(partition, baseOffset, BATCH_COUNT, performance.now());
      await sleep(SEND_INTERVAL_MS);
    }
  }

  #happen(): void {
    const members = this.#present;
    const happening = this.#choose(members.length);
    const member = members[this.#random.below(members.length)];
    if (happening === "join" || member === undefined) this.#join();
    else if (happening === "leave") member.leave();
    else if (happening === "crash") member.crash();
    else if (happening === "freeze") this.#freeze(member);
    else member.destroySockets();
    this.#happenings[happening] += 1;
  }

  async #allPresent(): Promise<void> {
    while (this.#present.length < MEMBERS_MIN) await sleep(50);
  }

  /** Members that take part now: a process that has not joined yet, or stands still, serves nobody. */
  get #present(): MemberProcess[] {
    return this.#members.filter(({ isAlive, hasJoined, isFrozen }) => isAlive && hasJoined && !isFrozen);
  }

  #choose(count: number): Happening {
    const mayJoin = this.#members.filter(({ isAlive }) => isAlive).length < MEMBERS_MAX;
    if (count <= MEMBERS_MIN) return mayJoin ? "join" : "destroyed socket";
    if (mayJoin && this.#random.below(3) === 0) return "join";
    return this.#drawTrouble();
  }

  /** Draws from a hand that is dealt again when it is empty, so that a short soak sees every kind too. */
  #drawTrouble(): Happening {
    if (this.#troubles.length === 0) this.#troubles.push(...TROUBLES);
    const mayFreeze = performance.now() >= this.#nextFreezeMs;
    const drawable = this.#troubles.filter((trouble) => mayFreeze || trouble !== "freeze");
    if (drawable.length === 0) return "destroyed socket";
    const trouble = this.#random.pick(drawable);
    this.#troubles.splice(this.#troubles.indexOf(trouble), 1);
    return trouble;
  }

  #join(): void {
    const onHandled = (partitionId: number, offset: number) =>
      this.#messages.handled(partitionId, offset, performance.now());
    this.#members.push(new MemberProcess(this.#address, onHandled));
  }

  #freeze(member: MemberProcess): void {
    member.freeze();
    this.#nextFreezeMs = performance.now() + AFTER_FREEZE_MS;
    const thaw = sleep(this.#random.below(FREEZE_MAX_MS)).then(() => {
      member.thaw();
      this.#thaws.delete(thaw);
    });
    this.#thaws.add(thaw);
  }

  /** Waits until everything is handled and committed, or too long; answers what lag is left. */
  async #readRest(client: MillraceClient): Promise<string | undefined> {
    const endMs = performance.now() + WAIT_MAX_MS;
    for (;;) {
      const lag = await lagOf(client);
      const isDone = lag === undefined && this.#messages.missingCount === 0;
      if (isDone || performance.now() > endMs) return lag;
      await sleep(50);
    }
  }

  async #leaveAll(): Promise<void> {
    for (const member of this.#members) member.leave();
    const gone = Promise.all(this.#members.map(({ exited, isAlive }) => (isAlive ? exited : undefined)));
    const late = sleep(WAIT_MAX_MS, "late", { ref: false });
    if ((await Promise.race([gone, late])) === "late") {
      throw new Violation("server", "a member did not leave in time");
    }
  }
}

/** The first partition of which the group has not committed everything, in words. */
async function lagOf(client: MillraceClient): Promise<string | undefined> {
  const consumer = { group: SOAK_PLACE.group };
  for (let partitionId = 0; partitionId < SOAK_PARTITIONS; partitionId += 1) {
    const offset = await client.getConsumerOffset({ ...SOAK_PLACE, consumer, partitionId });
    if (offset?.storedOffset === offset?.currentOffset) continue;
    return `stored ${offset?.storedOffset} of ${offset?.currentOffset} in partition ${partitionId}`;
  }
  return undefined;
}
