import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { Client } from "../connection/client.ts";
import { runSender } from "./actors.ts";
import { BenchTopics, type CreatedTopic } from "./bench-topics.ts";
import { GroupProgress } from "./group-reading.ts";
import { type Load, PayloadSource } from "./load.ts";
import { createLoadClock } from "./load-clock.ts";
import type { Role } from "./meter.ts";
import { type Actors, openActors, type Work } from "./open-actors.ts";
import type { BenchPlan } from "./plan.ts";
import { type ProcessCost, type ServerCost, watchCosts } from "./process-cost.ts";

/** The server and the way to it, for the record. */
export interface BenchTarget {
  readonly address: string;
  /** `tcp`, `ws`, with `+tls` behind it when it is encrypted. */
  readonly transport: string;
}

/** What a run came to. */
export interface BenchRun {
  readonly plan: BenchPlan;
  readonly target: BenchTarget;
  readonly serverVersion: string;
  readonly roles: readonly Role[];
  /** Messages that members of groups got more than once. */
  readonly repeated: number;
  readonly client: ProcessCost;
  /** Undefined for a server that cannot be seen from here. */
  readonly server: ServerCost | undefined;
}

/** What a run works with. */
export interface BenchSurroundings {
  readonly target: BenchTarget;
  /** Makes and deletes the streams, asks for statistics. */
  readonly client: Client;
  /** One more session, for an actor; whoever hands it over closes it. */
  readonly newClient: () => Promise<Client>;
  readonly nowMs: () => number;
  readonly onInterrupt: (callback: () => void) => () => void;
  readonly remark: (text: string) => void;
}

/** A run in which nothing is sent and nothing arrives for this long is over: it would never end. */
const STALL_MS = 60_000;
const STALL_LOOK_MS = 1_000;
/** How often is looked whether all members of a group are there. */
const JOIN_LOOK_MS = 20;

/**
 * Makes the streams of a plan, lets its actors loose and deletes the streams again, also after an error and
 * after Ctrl-C.
 *
 * @throws CodedError of the server, Aborted after Ctrl-C, RequestTimeout when nothing moves for a minute
 */
export async function runBench(plan: BenchPlan, around: BenchSurroundings): Promise<BenchRun> {
  const { client, onInterrupt, remark } = around;
  const abort = new AbortController();
  const release = onInterrupt(() => abort.abort(interrupted()));
  const topics = new BenchTopics(client);
  try {
    const made = await topics.create(plan, randomBytes(6).toString("hex"));
    return await runOn(made, plan, around, abort);
  } finally {
    release();
    await topics.remove().catch(() => {
      const commands = topics.left.map((stream) => `millrace stream delete ${stream}`);
      remark(`Streams of this run are left; delete them with: ${commands.join("; ")}`);
    });
  }
}

function interrupted(): CodedError {
  const next = "Run it again; what it had made on the server is deleted.";
  return new CodedError(ErrorCode.Aborted, "The run was interrupted.", { details: { next } });
}

async function runOn(
  topics: readonly CreatedTopic[],
  plan: BenchPlan,
  around: BenchSurroundings,
  abort: AbortController,
): Promise<BenchRun> {
  const { client, nowMs, newClient, target } = around;
  const payload = new Uint8Array(randomBytes(plan.messageSize));
  const zeroMicros = Math.round((Date.now() - nowMs()) * 1_000);
  const payloads = new PayloadSource(payload, plan.messagesPerBatch, zeroMicros);
  const load: Load = { plan, topics, clock: createLoadClock(nowMs), signal: abort.signal, payloads };
  const stall = watchStall(abort, nowMs);
  try {
    await fill(load, client);
    const groups = plan.groupPlans.map((group) => new GroupProgress(group));
    const actors = await openActors(load, { newClient, groups, nowMs, onProgress: stall.onProgress });
    const stats = await client.getStats();
    const costs = await watchCosts(stats, nowMs, () => work(load, actors, client, abort));
    const repeated = groups.reduce((sum, group) => sum + group.repeated, 0);
    const { serverVersion } = stats;
    return { plan, target, serverVersion, roles: actors.roles, repeated, ...costs };
  } finally {
    stall.end();
  }
}

/** Puts in what consumers are going to read. */
async function fill(load: Load, client: Client): Promise<void> {
  for (const { batches, ...spot } of load.plan.fill) {
    await runSender({ ...load, client }, spot, { batches, isStamped: false });
  }
}

/** Lets all actors work; where there are producers too, they begin when the groups are complete. */
async function work(load: Load, actors: Actors, client: Client, abort: AbortController): Promise<void> {
  const reading = actors.members.map((one) => one());
  const rest: Work = async () => {
    if (load.plan.traits.sends) await untilJoined(load, client);
    await allOrAbort(
      actors.others.map((one) => one()),
      abort,
    );
  };
  await allOrAbort([...reading, rest()], abort);
}

/** The first error ends the others, which are waited for: nothing runs on while streams are deleted. */
async function allOrAbort(works: readonly Promise<void>[], abort: AbortController): Promise<void> {
  const watched = works.map((one) =>
    one.catch((error: unknown) => {
      abort.abort(error);
      throw error;
    }),
  );
  await Promise.allSettled(watched);
  abort.signal.throwIfAborted();
}

/** Resolves when every member of every group is in it and every partition has its reader. */
async function untilJoined({ plan, topics, signal }: Load, client: Client): Promise<void> {
  for (const { place, name, members } of plan.groupPlans) {
    const { stream = "", topic = "" } = topics[place] ?? {};
    for (;;) {
      signal.throwIfAborted();
      const group = await client.getConsumerGroup({ stream, topic, group: name });
      const read = group?.members.reduce((sum, member) => sum + member.partitions.length, 0);
      if (group?.members.length === members && read === plan.partitions) break;
      await sleep(JOIN_LOOK_MS);
    }
  }
}

function watchStall(abort: AbortController, nowMs: () => number) {
  let lastMs = nowMs();
  const timer = setInterval(() => {
    if (nowMs() - lastMs < STALL_MS) return;
    const message = `Nothing was sent and nothing arrived for ${STALL_MS / 1_000} s; the run is given up.`;
    abort.abort(new CodedError(ErrorCode.RequestTimeout, message));
  }, STALL_LOOK_MS);
  return {
    onProgress: () => {
      lastMs = nowMs();
    },
    end: () => clearInterval(timer),
  };
}
