import type { CodedError } from "@millrace/errors";
import type { Clock, Log } from "@millrace/platform";
import type { MetadataJournal } from "@millrace/storage";
import type { Input, Output, Replica } from "@millrace/vsr";
import type { GroupPeers } from "../cluster/group-peers.ts";
import type { MetadataBody } from "./metadata-body.ts";
import { prepareOf } from "./recover-state.ts";

/** What only a replica of several asks of its host. */
export type ReplicationOutput = Extract<
  Output,
  { kind: "send" | "persist-view" | "journal-truncate" | "journal-read" | "request-state" }
>;

/** What the metadata group's replication works with. */
export interface MetadataReplicationOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly journal: MetadataJournal;
  readonly peers: GroupPeers;
  step(input: Input): void;
}

/** Until a replica is taken in, nobody knows which groups heard of it. */
const EVERY_OP = Number.MAX_SAFE_INTEGER;

/** Milliseconds between two lines that say that this replica cannot catch up by itself. */
const STATE_NOTICE_INTERVAL_MS = 10_000;

/**
 * The side of the metadata group that faces the other replicas: messages, views on disk, cuts, ops read back.
 *
 * A failed write of a view or a cut stops it for good: a replica that may forget what it said is silent until
 * it is started again.
 */
export class MetadataReplication {
  readonly #options: MetadataReplicationOptions;
  /** Nothing is known of what this replica may have said before its directory was lost. */
  #isForgetful: boolean;
  #isStopped = false;
  #nextNoticeMs = 0;

  constructor(options: MetadataReplicationOptions) {
    this.#options = options;
    this.#isForgetful = !options.journal.superblock.record.hasSpoken;
  }

  /** Nothing is said, heard or written any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Hands an input to the replica, unless this side is stopped. */
  hear(input: Input): void {
    if (!this.#isStopped) this.#options.step(input);
  }

  /** Notes that the replica speaks from now on, then calls back. */
  noteFormed(done: () => void): void {
    this.#isForgetful = false;
    this.#then(this.#options.journal.superblock.write({ hasSpoken: true }), done);
  }

  /** Notes, once, how long the log was when this replica was taken in: nothing behind that is forgotten. */
  noteTakenIn(op: number): void {
    const { superblock } = this.#options.journal;
    if (!this.#isForgetful || superblock.record.forgottenOp !== EVERY_OP) return;
    this.#isForgetful = false;
    this.#then(superblock.write({ forgottenOp: op }), () => {});
  }

  /** Tells a node what is committed, ahead of the next broadcast. */
  tellCommit(to: number, replica: Replica): void {
    if (this.#isStopped || !replica.isPrimary) return;
    const { view, commit, commitChecksum } = replica;
    this.#options.peers.send(to, { kind: "commit", view, commit, commitChecksum });
  }

  /** Performs what the replica asks for. */
  perform(output: ReplicationOutput): void {
    if (this.#isStopped) return;
    switch (output.kind) {
      case "send":
        this.#send(output);
        break;
      case "persist-view":
        this.#persistView(output);
        break;
      case "journal-truncate":
        this.#truncate(output.op);
        break;
      case "journal-read":
        this.#readBack(output);
        break;
      case "request-state":
        this.#noticeState(output.op);
        break;
    }
  }

  #send({ to, message }: Extract<ReplicationOutput, { kind: "send" }>): void {
    const { peers } = this.#options;
    if (message.kind !== "prepare") peers.send(to, message);
    else peers.send(to, message, { bytes: (message.prepare.body as MetadataBody).bytes });
  }

  #persistView({ view, logView, mayHaveLost }: Extract<ReplicationOutput, { kind: "persist-view" }>): void {
    const { superblock } = this.#options.journal;
    const forgotten = this.#isForgetful ? { forgottenOp: EVERY_OP } : {};
    const written = superblock.write({ view, logView, mayHaveLost, hasSpoken: true, ...forgotten });
    this.#then(written, () => this.hear({ kind: "view-persisted", view, logView }));
  }

  #truncate(op: number): void {
    this.#then(this.#options.journal.cut(op), () => this.hear({ kind: "journal-truncated", op }));
  }

  /** What cannot be read is not answered: the peer asks again, or another one. */
  #readBack({ op, checksum, to }: Extract<ReplicationOutput, { kind: "journal-read" }>): void {
    const { journal, log } = this.#options;
    journal.read(op).then(
      (record) => {
        const prepare = record && prepareOf(record);
        this.hear({ kind: "journal-read", op, checksum, to, prepare });
      },
      (error: unknown) => log.error("An op of the metadata could not be read back.", { op, error }),
    );
  }

  #noticeState(op: number): void {
    const { clock, log } = this.#options;
    if (clock.monotonicMs() < this.#nextNoticeMs) return;
    this.#nextNoticeMs = clock.monotonicMs() + STATE_NOTICE_INTERVAL_MS;
    log.error("The other nodes no longer hold the metadata operations this node lacks.", { op });
  }

  #then(work: Promise<void>, next: () => void): void {
    work.then(next, (error: CodedError) => {
      this.stop();
      const text =
        "This node cannot keep what it promises the others; it is silent until it is started again.";
      this.#options.log.error(text, { error });
    });
  }
}
