import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createChecksumKernel } from "@millrace/framing";
import { silentLog } from "@millrace/platform";
import { SimDisk } from "@millrace/platform/sim";
import fc from "fast-check";
import type { MetadataJournal } from "./metadata-journal.ts";
import { openMetadataJournal } from "./open-metadata-journal.ts";

const kernel = createChecksumKernel({ memoryLength: 1_048_576 });

type Step = "append" | "checkpoint" | "settle" | "reopen" | "crash";

function open(disk: SimDisk): Promise<MetadataJournal> {
  return openMetadataJournal({ disk, path: "metadata", kernel, log: silentLog, role: "exclusive" });
}

/** The group's state is the list of ops; a snapshot is its length. */
class Model {
  disk: SimDisk;
  journal!: MetadataJournal;
  ackedOp = 0;
  #pending: Promise<unknown>[] = [];

  constructor(seed: number) {
    this.disk = new SimDisk({ seed });
  }

  async run(step: Step): Promise<void> {
    if (step === "append") return this.#append();
    if (step === "checkpoint") {
      this.#pending.push(this.#checkpoint());
      return;
    }
    if (step === "settle") return this.settle();
    if (step === "reopen") {
      await this.settle();
      await this.journal.close();
      return this.check();
    }
    this.disk = this.disk.crash();
    await this.settle();
    return this.check();
  }

  async settle(): Promise<void> {
    await Promise.all(this.#pending);
    this.#pending = [];
  }

  /** Opens, and finds every acknowledged op: in the snapshot, or behind it in order. */
  async check(): Promise<void> {
    this.journal = await open(this.disk);
    const { snapshot, records, lastOp } = this.journal;
    assert.ok(lastOp >= this.ackedOp, `op ${this.ackedOp} was acknowledged, ${lastOp} is the last`);
    assert.deepEqual([...(snapshot?.bytes ?? [])], snapshot === undefined ? [] : [snapshot.op % 256]);
    const ops = records.map((record) => record.op);
    assert.deepEqual(
      ops,
      Array.from({ length: ops.length }, (_, at) => (snapshot?.op ?? 0) + 1 + at),
    );
    for (const { op, body } of records) assert.equal(new TextDecoder().decode(body), `op ${op}`);
    this.ackedOp = lastOp;
  }

  async #checkpoint(): Promise<void> {
    const op = this.ackedOp;
    if (op > 0) await this.journal.checkpoint(op, new Uint8Array([op % 256])).catch(() => undefined);
  }

  #append(): void {
    const { journal } = this;
    const op = journal.lastOp + 1;
    const header = {
      op,
      view: 0,
      parent: journal.lastOpChecksum,
      checksum: BigInt(op) * 31n,
      operation: 64,
      client: 1n,
      request: 1n,
      user: 1,
      timestamp: op,
      session: 1n,
      commit: op - 1,
      bodyChecksum: 6n,
    };
    const done = new Promise<void>((resolve) => {
      journal.append(header, new TextEncoder().encode(`op ${op}`), (error) => {
        if (error === undefined) this.ackedOp = op;
        resolve();
      });
    });
    this.#pending.push(done);
  }
}

describe("the metadata journal against a list of what was sent", () => {
  it("has every acknowledged op after any power loss, whatever checkpoints were under way", async () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.constant<Step>("append") },
        { weight: 2, arbitrary: fc.constant<Step>("checkpoint") },
        { weight: 2, arbitrary: fc.constant<Step>("settle") },
        { weight: 1, arbitrary: fc.constant<Step>("reopen") },
        { weight: 1, arbitrary: fc.constant<Step>("crash") },
      ),
      { maxLength: 40 },
    );
    const property = fc.asyncProperty(steps, fc.integer(), async (sequence, seed) => {
      const model = new Model(seed);
      await model.check();
      for (const step of sequence) await model.run(step);
      await model.settle();
    });
    await fc.assert(property, { numRuns: 100 });
  });
});
