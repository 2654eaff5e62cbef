import assert from "node:assert/strict";
import { it } from "node:test";
import { type DiskFile, silentLog } from "@millrace/platform";
import { SimDisk, seededFaults } from "@millrace/platform/sim";
import { SeededRandom } from "@millrace/testkit";
import { datasync, writeAt } from "../segment/file-calls.ts";
import { ActiveFiles } from "./active-files.ts";
import { asCodedError, fenced } from "./fence.ts";
import { IDENTITY } from "./partition-fixture.test.ts";
import { PartitionState } from "./partition-state.ts";

const SEEDS = 400;
const STEPS = 40;
/** Several of them share a sector. */
const UNIT_LENGTH = 200;
const NAMES = ["a.log", "a.ops"] as const;

const soon = () => new Promise((resolve) => setImmediate(resolve));

/** Two files that are written and synced as a partition does, on a disk that completes calls in any order. */
class Run {
  readonly #random: SeededRandom;
  readonly #disk: SimDisk;
  readonly #pending: (() => void)[] = [];
  readonly #state = new PartitionState({ path: "", identity: IDENTITY, log: silentLog });
  #isHeld = false;
  #files!: ActiveFiles;
  /** Units that are in both files, and how many of them somebody was told are safe. */
  #written = 0;
  #confirmed = 0;
  #isWriting = false;
  #isGroupOut = false;

  constructor(seed: number) {
    this.#random = new SeededRandom(seed);
    const schedule = (done: () => void) =>
      this.#isHeld ? void this.#pending.push(done) : queueMicrotask(done);
    this.#disk = new SimDisk({ seed, schedule });
  }

  /** Answers what was confirmed, and whether a sync had failed. */
  async run(seed: number): Promise<{ readonly confirmed: number; readonly isFenced: boolean }> {
    const open = async (name: string): Promise<DiskFile> => {
      const file = await this.#disk.openFile(name, "create");
      await datasync(file);
      return file;
    };
    this.#files = new ActiveFiles(this.#disk, this.#state, {
      log: await open(NAMES[0]),
      ops: await open(NAMES[1]),
    });
    await this.#disk.syncDirectory("");
    this.#disk.setFaults(seededFaults(seed, { datasyncError: 0.1 }));
    this.#isHeld = true;
    for (let step = 0; step < STEPS; step += 1) {
      this.#step();
      await soon();
    }
    await this.#check(this.#disk.crash());
    return { confirmed: this.#confirmed, isFenced: this.#state.fault !== undefined };
  }

  #step(): void {
    const mayWrite = !this.#isWriting && !this.#isGroupOut && this.#state.fault === undefined;
    const what = this.#random.below(10);
    if (what === 0) void this.#sync();
    else if (what === 1 && this.#random.below(3) === 0) void this.#files.settle();
    else if (what <= 3 && mayWrite) void this.#write();
    else if (what <= 5 && mayWrite) this.#syncGroup();
    else this.#pending.splice(this.#random.below(Math.max(1, this.#pending.length)), 1)[0]?.();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    const bytes = new Uint8Array(UNIT_LENGTH).fill(this.#written + 1);
    const position = this.#written * UNIT_LENGTH;
    const { log, ops } = this.#files;
    await Promise.all([writeAt(log, bytes, position), writeAt(ops, bytes, position)]);
    this.#files.noteWritten();
    this.#written += 1;
    this.#isWriting = false;
  }

  async #sync(): Promise<void> {
    const covered = this.#written;
    await this.#files.sync().then(
      () => this.#confirm(covered),
      () => undefined,
    );
  }

  #syncGroup(): void {
    const covered = this.#written;
    this.#isGroupOut = true;
    this.#files.syncGroup((error) => {
      this.#isGroupOut = false;
      if (error === undefined) this.#confirm(covered);
      else this.#state.fault ??= fenced(asCodedError(error));
    });
  }

  #confirm(covered: number): void {
    this.#confirmed = Math.max(this.#confirmed, covered);
  }

  async #check(left: SimDisk): Promise<void> {
    this.#isHeld = false;
    left.setFaults(undefined);
    for (const name of NAMES) {
      const bytes = (await left.readWhole(name, STEPS * UNIT_LENGTH)) ?? new Uint8Array();
      for (let at = 0; at < this.#confirmed * UNIT_LENGTH; at += 1) {
        const unit = Math.floor(at / UNIT_LENGTH);
        assert.equal(bytes[at], unit + 1, `byte ${at} of ${name}, ${this.#confirmed} units were confirmed`);
      }
    }
  }
}

it("What a sync or a group confirmed is there after power loss, whatever overlapped, failed or ended first.", async () => {
  let [confirmed, fencedRuns] = [0, 0];
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    try {
      const outcome = await new Run(seed).run(seed);
      confirmed += outcome.confirmed;
      if (outcome.isFenced) fencedRuns += 1;
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
  assert.ok(confirmed > SEEDS / 2 && fencedRuns > SEEDS / 10, `${confirmed} confirmed, ${fencedRuns} fenced`);
});
