import { type Cost, measure, medianCost, SINGLE_REQUESTS, WARM_UP_ROUNDS } from "../figure.ts";
import { GOALS, type Goal } from "../goals.ts";
import { openClient, startMillrace } from "../millrace-target.ts";
import { RequestRuns } from "../request-runs.ts";
import type { WallFigure } from "../wall-figure.ts";
import { installPeers, type Peer, programOf, startJetStream, startRedis } from "./peer-servers.ts";

const PAYLOAD = new Uint8Array(256).map((_, at) => at);
/** As our own figure of one message a request has it, and deep enough that servers group what they can. */
const DEPTHS = [64, 1024] as const;
const COPIES = 2048;
/** Fewer where the disk is waited for: a run takes seconds. */
const SYNCED_REQUESTS = 128_000;

/** One comparison: a peer, how it confirms, and how Millrace does. */
interface Comparison {
  readonly againstName: string;
  readonly program: "redis-server" | "nats-server";
  readonly start: (program: string) => Promise<Peer>;
  readonly durability: "replicated" | "persisted";
  readonly requests: number;
  readonly confirms: readonly [ours: string, against: string];
  readonly goal: Goal;
}

const WRITTEN = "after both writes to the page cache (replicated)";
const SYNCED = "after fdatasync of both files (persisted)";

const COMPARISONS: readonly Comparison[] = [
  {
    againstName: "Redis streams, appendfsync everysec",
    program: "redis-server",
    start: (program) => startRedis(program, "everysec", PAYLOAD),
    durability: "replicated",
    requests: SINGLE_REQUESTS,
    confirms: [WRITTEN, "after the write to the page cache; a sync follows every second"],
    goal: GOALS.redisEverysec,
  },
  {
    againstName: "JetStream publish, file storage",
    program: "nats-server",
    start: (program) => startJetStream(program, PAYLOAD),
    durability: "replicated",
    requests: SINGLE_REQUESTS,
    confirms: [WRITTEN, "after the message is stored in its file; a sync follows every two minutes"],
    goal: GOALS.jetStream,
  },
  {
    againstName: "Redis streams, appendfsync always",
    program: "redis-server",
    start: (program) => startRedis(program, "always", PAYLOAD),
    durability: "persisted",
    requests: SYNCED_REQUESTS,
    confirms: [SYNCED, "after the sync of its file"],
    goal: GOALS.redisAlways,
  },
];

/**
 * One message of 256 bytes a request, pipelined on one connection, against what Debian provides.
 * A peer that is not on this machine is said and left out.
 *
 * @param mayInstall  installs missing peers with `apt-get`, when the user is root
 */
export async function benchPeers(rounds: number, mayInstall: boolean): Promise<WallFigure[]> {
  const names = [...new Set(COMPARISONS.map((one) => one.program))];
  const missing = names.filter((name) => programOf(name) === undefined);
  if (mayInstall && missing.length > 0) installPeers(missing);
  const figures: WallFigure[] = [];
  for (const comparison of COMPARISONS) {
    const program = programOf(comparison.program);
    if (program === undefined)
      console.log(`${comparison.againstName}: ${comparison.program} is not here, left out`);
    else for (const depth of DEPTHS) figures.push(await benchPeer(comparison, { program, depth, rounds }));
  }
  return figures;
}

interface PeerRun {
  readonly program: string;
  readonly depth: number;
  readonly rounds: number;
}

async function benchPeer(comparison: Comparison, { program, depth, rounds }: PeerRun): Promise<WallFigure> {
  const { againstName, durability, requests: count, confirms, goal } = comparison;
  const peer = await comparison.start(program);
  const target = await startMillrace();
  const { connection, requests } = await openClient(target.port);
  const request = requests.send("bench", "t", 1, PAYLOAD.length);
  const [ourRuns, peerRuns] = [requests.runs(request, COPIES), new RequestRuns(peer.request, COPIES)];
  const [ours, against]: [Cost[], Cost[]] = [[], []];
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    const peerCost = await measure(peer.pid, count, count * PAYLOAD.length, () =>
      peer.connection.pumpRuns(count, depth, peerRuns),
    );
    await peer.clear();
    await connection.call(requests.createStream("bench"));
    await connection.call(requests.createTopic("bench", "t", 1, durability));
    const ourCost = await measure(target.pid, count, count * PAYLOAD.length, () =>
      connection.pumpRuns(count, depth, ourRuns),
    );
    await connection.call(requests.deleteStream("bench"));
    if (round < 0) continue;
    against.push(peerCost);
    ours.push(ourCost);
  }
  connection.close();
  await Promise.all([peer.stop(), target.stop()]);
  const [mine, other] = [medianCost(ours), medianCost(against)];
  return {
    name: `produce 1 x 256 B, ${depth} in flight, ${durability}`,
    againstName,
    unit: "messages/s",
    ours: mine.wallMessagesPerSecond,
    against: other.wallMessagesPerSecond,
    ratio: mine.wallMessagesPerSecond / other.wallMessagesPerSecond,
    goal,
    cpuNanos: [mine.cpuNanosPerMessage, other.cpuNanosPerMessage],
    confirms,
  };
}
