import { assert } from "@millrace/errors";
import type { Prepare } from "@millrace/vsr";
import { type AppendBody, Operation } from "./operation.ts";

/** A state at one op, for checkpoints and for peers that lag too far behind. Its arrays are never written. */
export interface LogSnapshot {
  readonly op: number;
  readonly checksum: bigint;
  readonly nextOffset: number;
  readonly messages: readonly number[];
  readonly applied: ReadonlyMap<string, number>;
}

/** Before the first op. */
export const EMPTY_LOG: LogSnapshot = {
  op: 0,
  checksum: 0n,
  nextOffset: 0,
  messages: [],
  applied: new Map(),
};

/**
 * The state machine that groups replicate: each op appends a message and gets the next offset, as in a
 * partition. A request that was applied before gets its first offset again and appends nothing; that is the
 * duplicate window of partitions, as long as the run.
 */
export class AppendLog {
  op: number;
  checksum: bigint;
  /** Offset the next message gets. */
  nextOffset: number;
  readonly #messages: number[];
  readonly #applied: Map<string, number>;

  constructor(from: LogSnapshot) {
    this.op = from.op;
    this.checksum = from.checksum;
    this.nextOffset = from.nextOffset;
    this.#messages = [...from.messages];
    this.#applied = new Map(from.applied);
  }

  /** Message at an offset. */
  messageAt(offset: number): number | undefined {
    return this.#messages[offset];
  }

  /** Applies the next op. The offset its client is told, -1 for an op that appends nothing. */
  apply(prepare: Prepare): number {
    assert(prepare.op === this.op + 1, `op ${prepare.op} is applied right after op ${this.op}`);
    this.op = prepare.op;
    this.checksum = prepare.checksum;
    if (prepare.operation !== Operation.append) return -1;
    const name = requestName(prepare.client, prepare.request);
    const known = this.#applied.get(name);
    if (known !== undefined) return known;
    const offset = this.nextOffset;
    this.nextOffset += 1;
    this.#messages[offset] = (prepare.body as AppendBody).message;
    this.#applied.set(name, offset);
    return offset;
  }

  snapshot(): LogSnapshot {
    const { op, checksum, nextOffset } = this;
    return { op, checksum, nextOffset, messages: [...this.#messages], applied: new Map(this.#applied) };
  }
}

/** Names one request of one client. */
export function requestName(client: bigint, request: bigint): string {
  return `${client}:${request}`;
}
