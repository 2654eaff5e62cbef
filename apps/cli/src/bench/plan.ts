import { UsageError } from "../failures/usage-error.ts";
import { SCENARIOS, type Scenario, type ScenarioName } from "./scenarios.table.ts";

/** What was typed; what was left out has a default that depends on the scenario. */
export interface BenchOptions {
  readonly messageSize: number;
  readonly messagesPerBatch: number;
  readonly batches: number;
  readonly warmUp: number;
  readonly streams: number;
  readonly topics: number;
  readonly partitions?: number;
  readonly producers?: number;
  readonly consumers?: number;
  readonly groups?: number;
  readonly inFlight: number;
  /** Payload bytes a second of all actors together. */
  readonly rateLimit?: number;
  readonly durability?: "replicated" | "persisted";
}

/** A topic of the run: the stream's and its own place among those that are made. */
export interface TopicPlace {
  readonly stream: number;
  readonly topic: number;
}

/** Who sends where. */
export interface SenderPlan {
  readonly place: number;
  /** Undefined: the server chooses, batch by batch. */
  readonly partitionId: number | undefined;
  /** With a rate limit actors begin one after another, so that their requests do not come in bursts. */
  readonly delayMs: number;
}

/** Who polls where, and how many messages will be there. */
export interface PollerPlan {
  readonly place: number;
  readonly partitionId: number;
  readonly batches: number;
  readonly delayMs: number;
}

/** A consumer group and what it has to read. */
export interface GroupPlan {
  readonly place: number;
  readonly name: string;
  readonly members: number;
  readonly messages: number;
  /** Messages that do not count, at the beginning. */
  readonly warmUpMessages: number;
}

/** A whole run, worked out. */
export interface BenchPlan extends Omit<BenchOptions, "partitions"> {
  readonly scenario: ScenarioName;
  readonly traits: Scenario;
  readonly partitions: number;
  readonly places: readonly TopicPlace[];
  readonly senders: readonly SenderPlan[];
  readonly pollers: readonly PollerPlan[];
  readonly groupPlans: readonly GroupPlan[];
  /** Batches to put into each place, or each partition of it, before anybody reads. */
  readonly fill: readonly (SenderPlan & { readonly batches: number })[];
  /** Milliseconds between two requests of one actor; undefined without a rate limit. */
  readonly intervalMs: number | undefined;
}

/**
 * Works out who does what.
 *
 * @throws UsageError for an option that means nothing to the scenario, and for actors that would have
 *         nothing to do
 */
export function planBench(scenario: ScenarioName, options: BenchOptions): BenchPlan {
  const traits: Scenario = SCENARIOS[scenario];
  refuseMeaningless(scenario, traits, options);
  const places = placesOf(options);
  const counts = countsOf(traits, options, places.length);
  const partitions = options.partitions ?? partitionsFor(traits, counts, places.length);
  const paced = pacedActors(counts);
  const intervalMs = intervalOf(options, paced);
  const spotOf = (actor: number): SenderPlan => ({
    delayMs: ((intervalMs ?? 0) * actor) / paced,
    place: actor % places.length,
    partitionId: traits.placement === "pinned" ? Math.floor(actor / places.length) % partitions : undefined,
  });
  const senders = Array.from({ length: counts.producers }, (_, actor) => spotOf(actor));
  const batchesEach = options.warmUp + options.batches;
  const isPolling = traits.placement === "pinned" && traits.reads && !traits.isEndToEnd;
  const readers = Array.from({ length: isPolling ? counts.consumers : 0 }, (_, actor) => spotOf(actor));
  const pollers = readers.map((spot) => pollerOf(spot, traits.sends ? senders : undefined, batchesEach));
  const groups = traits.placement === "balanced" && traits.reads ? counts.groups : 0;
  const groupPlans = Array.from({ length: groups }, (_, group) =>
    groupOf(group, { ...counts, places: places.length, batchesEach, isFilled: !traits.sends, options }),
  );
  const base = { ...options, scenario, traits, partitions, places, senders, pollers, groupPlans };
  return { ...base, fill: fillOf(base), intervalMs };
}

interface Counts {
  readonly producers: number;
  readonly consumers: number;
  readonly groups: number;
}

/** What nobody typed is as few as give every topic something to do. */
function countsOf(
  { sends, reads, isEndToEnd, placement }: Scenario,
  options: BenchOptions,
  places: number,
): Counts {
  const groups = reads && placement === "balanced" ? (options.groups ?? places) : 0;
  const producers = sends ? (options.producers ?? Math.max(places, isEndToEnd ? groups : 0)) : 0;
  const readers =
    options.consumers ?? Math.max(groups, placement === "pinned" ? (options.producers ?? places) : 1);
  const consumers = isEndToEnd ? producers : reads ? readers : 0;
  if (groups > consumers) {
    const whose = isEndToEnd ? "--producers" : "--consumers";
    throw new UsageError(`${groups} groups need a member each; raise ${whose} to ${groups} at least.`);
  }
  return { producers, consumers, groups };
}

function refuseMeaningless(scenario: ScenarioName, traits: Scenario, options: BenchOptions): void {
  const { sends, reads, isEndToEnd, placement } = traits;
  const meaningless = [
    ["--producers", options.producers, sends],
    ["--consumers", options.consumers, reads && !isEndToEnd],
    ["--groups", options.groups, reads && placement === "balanced"],
    ["--rate-limit", options.rateLimit, sends || placement === "pinned"],
  ] as const;
  for (const [flag, value, hasMeaning] of meaningless) {
    if (value !== undefined && !hasMeaning) throw new UsageError(`${flag} means nothing to ${scenario}.`);
  }
}

function placesOf({ streams, topics }: BenchOptions): TopicPlace[] {
  return Array.from({ length: streams * topics }, (_, at) => ({
    stream: at % streams,
    topic: Math.floor(at / streams),
  }));
}

/** A partition for every actor of a topic; the members of a group get one each. */
function partitionsFor({ placement }: Scenario, counts: Counts, places: number): number {
  const { producers, consumers, groups } = counts;
  const membersMax = groups === 0 ? 1 : Math.ceil(consumers / groups);
  const actors = placement === "pinned" ? Math.max(producers, consumers) : producers;
  return Math.min(1_000, Math.max(1, Math.ceil(actors / places), membersMax));
}

function pollerOf(
  { place, partitionId = 0, delayMs }: SenderPlan,
  senders: readonly SenderPlan[] | undefined,
  batchesEach: number,
): PollerPlan {
  const isHere = (one: SenderPlan) => one.place === place && one.partitionId === partitionId;
  const writers = senders === undefined ? 1 : senders.filter(isHere).length;
  if (writers > 0) return { place, partitionId, delayMs, batches: writers * batchesEach };
  throw new UsageError("A consumer would read a partition that nobody writes; raise --producers.");
}

interface GroupSurroundings extends Counts {
  readonly places: number;
  readonly batchesEach: number;
  readonly isFilled: boolean;
  readonly options: BenchOptions;
}

function groupOf(group: number, around: GroupSurroundings): GroupPlan {
  const { places, producers, consumers, groups, batchesEach, isFilled, options } = around;
  const place = group % places;
  const members = Math.floor(consumers / groups) + (group < consumers % groups ? 1 : 0);
  const shareOf = (actors: number) => Math.floor(actors / places) + (place < actors % places ? 1 : 0);
  const actors = isFilled ? Math.ceil(consumers / groups) : shareOf(producers);
  if (actors === 0) throw new UsageError("A group would read a topic that nobody writes; raise --producers.");
  const messages = actors * batchesEach * options.messagesPerBatch;
  const warmUpMessages = actors * options.warmUp * options.messagesPerBatch;
  return { place, name: `bench-group-${group + 1}`, members, messages, warmUpMessages };
}

type FillBase = Pick<BenchPlan, "traits" | "pollers" | "groupPlans" | "messagesPerBatch">;

function fillOf({ traits, pollers, groupPlans, messagesPerBatch }: FillBase): BenchPlan["fill"] {
  if (traits.sends) return [];
  const spots = new Map<string, BenchPlan["fill"][number]>();
  for (const { place, partitionId, batches } of pollers) {
    spots.set(`${place}/${partitionId}`, { place, partitionId, batches, delayMs: 0 });
  }
  for (const { place, messages } of groupPlans) {
    const batches = messages / messagesPerBatch;
    spots.set(String(place), { place, partitionId: undefined, batches, delayMs: 0 });
  }
  return [...spots.values()];
}

/** Actors whose requests the rate limit counts: those that send, or else those that poll. */
function pacedActors({ producers, consumers }: Counts): number {
  return producers > 0 ? producers : consumers;
}

function intervalOf(options: BenchOptions, actors: number): number | undefined {
  const { rateLimit, messageSize, messagesPerBatch } = options;
  if (rateLimit === undefined) return undefined;
  return (messageSize * messagesPerBatch * actors * 1_000) / rateLimit;
}
