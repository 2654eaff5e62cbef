import assert from "node:assert/strict";
import { ErrorCode } from "@millrace/errors";
import type { CommandName } from "@millrace/protocol";
import type { Answer } from "../test-client.ts";
import type { HistoryClient } from "./history-client.ts";
import type { HistoryWorld } from "./history-world.ts";

/** Simulated milliseconds within which a mended cluster answers whatever it is asked. */
export const PROGRESS_MAX_MS = 30_000;
/** Milliseconds between two tries of one operation, at most. */
const PAUSE_MAX_MS = 100;

/** One try in so many is given up soon, wherever its request is: the next goes over another connection. */
const IMPATIENT_EVERY = 12;
const IMPATIENCE_MAX_MS = 30;

/** One operation of one client, tried until its outcome is known. */
export interface Operation {
  readonly name: CommandName;
  readonly body: Uint8Array;
  /** What the operation is about may be gone: then it is not tried again. */
  mayBeGone(): boolean;
}

/** What became of it. */
export interface Outcome {
  /** Nothing when what it is about is gone. */
  readonly answer: Answer | undefined;
  /** It may have been done by a try whose answer was lost. */
  readonly isRetried: boolean;
  /** Over which it was answered. */
  readonly connection: unknown;
}

/** Sends an operation, to one node after the other, under one identity, until its outcome is known. */
export async function carryOut(
  { world, client, below }: { world: HistoryWorld; client: HistoryClient; below: (limit: number) => number },
  operation: Operation,
): Promise<Outcome> {
  const request = client.takeNumber();
  const begunMs = world.nowMs;
  for (let isRetried = false; ; ) {
    const { healedMs } = world;
    assert.ok(
      healedMs === undefined || world.nowMs - Math.max(begunMs, healedMs) < PROGRESS_MAX_MS,
      `${operation.name} of client ${client.id} is answered soon after healing`,
    );
    const isThere = await client.goTo(below(3) === 0 ? below(world.cluster.nodes.length) : client.node);
    if (isThere) {
      const { connection } = client;
      const isImpatient = healedMs === undefined && below(IMPATIENT_EVERY) === 0;
      const patienceMs = isImpatient ? 1 + below(IMPATIENCE_MAX_MS) : undefined;
      const answer = await client.ask(operation.name, operation.body, request, patienceMs);
      const code = answer?.code;
      world.trace(`c${client.id}`, `${operation.name} ${request} on ${client.node}: ${code ?? "lost"}`);
      // What another node made may not be known yet where it is asked for.
      const isUnknown = code === ErrorCode.ResourceNotFound;
      if (isUnknown && operation.mayBeGone()) return { answer: undefined, isRetried, connection };
      if (code !== undefined && !isTransient(code) && !isUnknown) {
        world.operations += 1;
        return { answer, isRetried, connection };
      }
      isRetried ||= code === undefined || code === ErrorCode.TransientNotCommitted;
    } else if (client.connection === undefined && below(2) === 0)
      client.node = below(world.cluster.nodes.length);
    await world.sleep(1 + below(PAUSE_MAX_MS));
  }
}

/** The node does not do it now; another try may. */
export function isTransient(code: number): boolean {
  return code === ErrorCode.TransientNotCommitted || code === ErrorCode.TransientNotAccepted;
}
