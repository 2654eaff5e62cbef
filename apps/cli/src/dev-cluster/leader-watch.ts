import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "../connection/client.ts";
import type { Credentials } from "../connection/credentials.ts";
import type { World } from "../world.ts";
import { type DevNode, HOST } from "./plan.ts";

/** How often the cluster is asked who leads. */
const ASK_MS = 1000;

/** Questions in a row that may fail before it is said: an election takes less. */
const FAILURES_BEFORE_WORD = 15;

const LOGIN_AGAIN_MS = 200;

/** What a watch works with. */
export interface WatchParts {
  readonly world: Pick<World, "connect">;
  readonly credentials: Credentials;
  /** Nodes that run now; asked anew each time. */
  readonly running: () => readonly DevNode[];
  readonly onLeader: (name: string) => void;
  /** Called once, when nobody could be asked for long. */
  readonly onTrouble: (error: unknown) => void;
  readonly signal: AbortSignal;
}

/**
 * Tells who leads, each time it is another one, until `signal`. One node is asked; when it does not answer,
 * the next.
 */
export async function watchLeader(parts: WatchParts): Promise<void> {
  const { world, running, onLeader, onTrouble, signal } = parts;
  let client: Client | undefined;
  let last: string | undefined;
  for (let failures = 0; !signal.aborted; await sleep(ASK_MS, undefined, { signal }).catch(() => {})) {
    try {
      client ??= await connectTo(world, nextOf(running(), failures), parts.credentials);
      const leader = await leaderOf(client);
      if (leader !== undefined && leader !== last) onLeader(leader);
      last = leader ?? last;
      failures = 0;
    } catch (error) {
      await client?.close().catch(() => {});
      client = undefined;
      failures += 1;
      if (failures === FAILURES_BEFORE_WORD) onTrouble(error);
    }
  }
  await client?.close().catch(() => {});
}

/** Waits until a node takes logins: the root user reaches each a moment after the cluster has formed. */
export async function untilLogin(
  { world, credentials, signal }: Pick<WatchParts, "world" | "credentials" | "signal">,
  node: DevNode,
): Promise<void> {
  while (!signal.aborted) {
    const client = await connectTo(world, node, credentials).catch(() => undefined);
    if (client !== undefined) return client.close().catch(() => {});
    await sleep(LOGIN_AGAIN_MS, undefined, { signal }).catch(() => {});
  }
}

function nextOf(nodes: readonly DevNode[], turn: number): DevNode {
  const node = nodes[turn % nodes.length];
  if (node === undefined) throw new Error("no node runs");
  return node;
}

function connectTo(world: WatchParts["world"], node: DevNode, credentials: Credentials): Promise<Client> {
  const client = { transport: "tcp", reconnect: false } as const;
  const address = `${HOST}:${node.ports.tcp}`;
  const target = { address, client, encryptionKey: undefined, typed: {}, exported: undefined };
  return world.connect({ target, credentials });
}

async function leaderOf(client: Client): Promise<string | undefined> {
  const { nodes } = await client.getClusterMetadata();
  return nodes.find(({ role, status }) => role === "leader" && status === "healthy")?.name;
}
