import { type ClientOptions, ErrorCode, isCodedError, type MillraceClient } from "@millrace/client";
import type { SeededRandom } from "@millrace/testkit";
import { asViolation, Violation } from "../oracle/violation.ts";

/** What an actor may use during one round. */
export interface Round {
  readonly number: number;
  readonly random: SeededRandom;
  /** True once the server was told to end or something failed; actors finish then. */
  readonly isOver: boolean;
  /** True once the server was told to end; only then may a connection break. */
  readonly isServerEnding: boolean;
  /** True while there may be no room on the disk; whoever writes may hear so then, and ends. */
  readonly mayDiskBeFull: boolean;
  /** A new connection, logged in. It is not made again when it is lost, unless `more` says so. */
  connect(more?: Partial<ClientOptions>): Promise<MillraceClient>;
  /** Notes a violation and ends the round. */
  fail(violation: Violation): void;
}

/**
 * One client with one job. `run` ends soon after the round is over and never rejects for a lost connection.
 */
export interface Actor {
  readonly name: string;
  run(round: Round): Promise<void>;
}

/** Errors that say nothing about what the server did. */
const UNKNOWN_OUTCOME: ReadonlySet<number> = new Set<number>([
  ErrorCode.OutcomeUnknown,
  ErrorCode.Disconnected,
  ErrorCode.CannotEstablishConnection,
  ErrorCode.TcpError,
  ErrorCode.ConnectionClosed,
  ErrorCode.ClientShutdown,
  ErrorCode.RequestTimeout,
]);

/** Whether an error says that there was no room on a disk that is small. */
export function isFullDisk(error: unknown, round: Round): boolean {
  return round.mayDiskBeFull && isCodedError(error, ErrorCode.DiskFull);
}

/**
 * Accepts an error that a killed server or a full disk explains.
 *
 * @throws Violation answer for every other one: a refusal, or a broken connection while the server ran
 */
export function acceptLoss(error: unknown, round: Round, what: string): void {
  if (error instanceof Violation) throw error;
  if (isFullDisk(error, round)) return;
  const isLoss = isCodedError(error) && UNKNOWN_OUTCOME.has(error.code);
  if (isLoss && round.isServerEnding) return;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  throw new Violation("answer", `${what} failed while the server ran: ${text}`, { cause: error });
}

/**
 * Some work on a connection; it ends soon after the round is over, or rejects when the connection is lost.
 */
export interface Job {
  readonly name: string;
  work(client: MillraceClient, round: Round): Promise<void>;
}

/** One connection with one job or several at once; a connection lost to the kill ends them quietly. */
export class OneConnection implements Actor {
  readonly #jobs: readonly Job[];

  constructor(...jobs: readonly Job[]) {
    this.#jobs = jobs;
  }

  get name(): string {
    return this.#jobs.map((job) => job.name).join(", ");
  }

  async run(round: Round): Promise<void> {
    let client: MillraceClient;
    try {
      client = await round.connect();
    } catch (error) {
      return acceptLoss(error, round, this.name);
    }
    await Promise.all(this.#jobs.map((job) => runJob(job, client, round)));
    await client.close().catch(() => {});
  }
}

async function runJob(job: Job, client: MillraceClient, round: Round): Promise<void> {
  const work = job.work(client, round).catch((error: unknown) => acceptLoss(error, round, job.name));
  await work.catch((error: unknown) => round.fail(asViolation(error)));
}
