import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Clock, Log } from "@millrace/platform";
import type { MetadataJournal, MetadataSnapshot } from "@millrace/storage";
import type { Input, Output, Replica } from "@millrace/vsr";
import type { GroupPeers } from "../cluster/group-peers.ts";
import { ReplicaLink } from "../cluster/replica-link.ts";
import type { SilentGroups } from "../cluster/silent-groups.ts";
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
  /** Hears of it when the replica is silent. */
  readonly silent: SilentGroups;
  readonly journal: MetadataJournal;
  readonly peers: GroupPeers;
  step(input: Input): void;
  /** Fetches the group's state from another node, unless it does already; ends in `install`. */
  fetchState(wish: { readonly from: number; readonly op: number }): void;
  /** The group's state is not wanted any more. */
  cancelFetch(): void;
}

/** Until a replica is taken in, nobody knows which groups heard of it. */
const EVERY_OP = Number.MAX_SAFE_INTEGER;

/**
 * The side of the metadata group that faces the other replicas: messages, views on disk, cuts, ops read
 * back, another replica's state. See `ReplicaLink` for what stops it.
 */
export class MetadataReplication {
  readonly #options: MetadataReplicationOptions;
  #link: ReplicaLink;
  /** Nothing is known of what this replica may have said before its directory was lost. */
  #isForgetful: boolean;
  /** Op of the state that was installed last: what is asked to be cut below it is gone already. */
  #installedOp = 0;

  constructor(options: MetadataReplicationOptions) {
    this.#options = options;
    this.#link = this.#newLink();
    this.#isForgetful = !this.hasSpoken || options.journal.superblock.record.forgottenOp === EVERY_OP;
  }

  #newLink(): ReplicaLink {
    const { clock, log, silent, step } = this.#options;
    return new ReplicaLink({ clock, log, silent, facts: { group: "metadata" }, step });
  }

  /** It is silent: what has not come from the others does not come. */
  get isStopped(): boolean {
    return this.#link.isStopped;
  }

  /** The replica may have promised something to the others, as far as its directory knows. */
  get hasSpoken(): boolean {
    return this.#options.journal.superblock.record.hasSpoken;
  }

  /** Nothing is said, heard or written any more. Settles when the journal is not being changed. */
  stop(): Promise<void> {
    this.#link.stop();
    this.#options.cancelFetch();
    return this.#link.journalIdle();
  }

  /** A journal write failed: the replica is silent, on a full disk until it begins anew. */
  fail(failure: CodedError): void {
    this.#link.fail(failure, isCodedError(failure, ErrorCode.DiskFull));
  }

  /**
   * Speaks again for a replica that begins anew from its files, as at a start; `begin` makes it once nothing
   * that the silent one wrote is on its way. Rejects with what `read` does; then it stays silent.
   */
  async beginAnew<Found>(read: () => Promise<Found>, begin: (found: Found) => void): Promise<void> {
    const silenced = this.#link;
    await silenced.allKept();
    await silenced.changeJournal(async () => {
      const found = await read();
      this.#link = this.#newLink();
      silenced.stop();
      begin(found);
    });
  }

  /** Hands an input to the replica, unless this side is stopped. */
  hear(input: Input): void {
    this.#link.hear(input);
  }

  /**
   * Puts another replica's snapshot in the place of snapshot and journal, then calls `installed`.
   * @param isWanted  whether the replica still waits for it
   * @throws CodedError when it is not wanted any more; `DiskFull`; any other answer of the disk makes the
   *         replica silent
   */
  install(snapshot: MetadataSnapshot, isWanted: () => boolean, installed: () => void): Promise<void> {
    return this.#link.changeJournal(async () => {
      if (this.#link.isStopped || !isWanted()) {
        throw new CodedError(ErrorCode.TransientNotAccepted, "The state is not waited for any more.");
      }
      try {
        await this.#options.journal.install(snapshot);
      } catch (error) {
        if (!isCodedError(error, ErrorCode.DiskFull)) this.#link.fail(error);
        throw error;
      }
      this.#installedOp = snapshot.op;
      if (!this.#link.isStopped) installed();
    });
  }

  /** Notes that the replica speaks from now on, then calls back. */
  noteFormed(done: () => void): void {
    this.#isForgetful = false;
    this.#link.keep(() => this.#options.journal.superblock.write({ hasSpoken: true }), done);
  }

  /** Notes, once, how long the log was when this replica was taken in: nothing behind that is forgotten. */
  noteTakenIn(op: number): void {
    const { superblock } = this.#options.journal;
    if (!this.#isForgetful || superblock.record.forgottenOp !== EVERY_OP) return;
    this.#isForgetful = false;
    this.#link.keep(
      () => superblock.write({ forgottenOp: op }),
      () => {},
    );
  }

  /** Tells a node what is committed, ahead of the next broadcast. */
  tellCommit(to: number, replica: Replica): void {
    if (this.#link.isStopped || !replica.isPrimary) return;
    const { view, commit, commitChecksum } = replica;
    this.#options.peers.send(to, { kind: "commit", view, commit, commitChecksum });
  }

  /** Performs what the replica asks for. */
  perform(output: ReplicationOutput): void {
    if (this.#link.isStopped) return;
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
        this.#options.fetchState(output);
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
    this.#link.keep(
      () => superblock.write({ view, logView, mayHaveLost, hasSpoken: true, ...forgotten }),
      () => this.hear({ kind: "view-persisted", view, logView }),
    );
  }

  #truncate(op: number): void {
    const cut = async () => {
      if (op >= this.#installedOp) await this.#options.journal.cut(op);
    };
    this.#link.keep(
      () => this.#link.changeJournal(cut),
      () => this.hear({ kind: "journal-truncated", op }),
    );
  }

  /** What cannot be read is not answered: the peer asks again, or another one. */
  #readBack({ op, checksum, to }: Extract<ReplicationOutput, { kind: "journal-read" }>): void {
    const { journal, log } = this.#options;
    journal.read(op).then(
      (record) => {
        const prepare = record && prepareOf(record);
        this.hear({ kind: "journal-read", op, checksum, to, prepare });
      },
      (error: unknown) => {
        // The journal was closed meanwhile: this node stops.
        if (isCodedError(error, ErrorCode.ShuttingDown)) return;
        log.error("An op of the metadata could not be read back.", { op, error });
      },
    );
  }
}
