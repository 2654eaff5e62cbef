import type { Client } from "../connection/client.ts";
import { runPoller, runRoundTrips, runSender } from "./actors.ts";
import { type GroupProgress, runMember } from "./group-reading.ts";
import type { ActorLoad, Load } from "./load.ts";
import { type MeterKind, Role } from "./meter.ts";
import type { SenderPlan } from "./plan.ts";

/** One piece of work of the run; it begins when it is called. */
export type Work = () => Promise<void>;

/** The actors of a run: each has its connection, none has begun. */
export interface Actors {
  readonly roles: readonly Role[];
  /** Members of groups, which have to be there before the others begin. */
  readonly members: readonly Work[];
  readonly others: readonly Work[];
}

/** What actors are made with. */
export interface ActorSurroundings {
  readonly newClient: () => Promise<Client>;
  readonly groups: readonly GroupProgress[];
  readonly nowMs: () => number;
  readonly onProgress: () => void;
}

/** Logins at once: each costs the server a hash of the password. */
const LOGINS_AT_ONCE = 8;

/** Opens a connection for every actor of a plan and gives each its meter. */
export async function openActors(load: Load, around: ActorSurroundings): Promise<Actors> {
  const { plan } = load;
  const { isEndToEnd, placement } = plan.traits;
  const members = plan.groupPlans.reduce((sum, group) => sum + group.members, 0);
  const isShared = isEndToEnd && members > 0;
  const total = plan.senders.length + plan.pollers.length + (isShared ? 0 : members);
  const clients = await openClients(total, around.newClient);
  const roles = new Roles(around);
  const clientAt = (index: number): ActorLoad => ({ ...load, client: clients[index] as Client });
  const sender = isEndToEnd && placement === "pinned" ? roundTrips : sending;
  const sends = plan.senders.map((spot, index) => sender(clientAt(index), spot, { index, roles }));
  const first = isShared ? 0 : plan.senders.length;
  const polls = plan.pollers.map((spot, index) => {
    const meter = roles.meter("poll", `consumer ${index + 1}`);
    return () => runPoller(clientAt(first + index), spot, meter);
  });
  const reads = Array.from({ length: members }, (_, index) => {
    const progress = around.groups[index % around.groups.length] as GroupProgress;
    const kind = plan.traits.sends ? "end-to-end" : "block";
    const meter = roles.meter(kind, `member ${index + 1} (${progress.plan.name})`);
    return () => runMember(clientAt(first + index), progress, meter);
  });
  return { roles: roles.all, members: reads, others: [...sends, ...polls] };
}

function sending(load: ActorLoad, spot: SenderPlan, { index, roles }: { index: number; roles: Roles }): Work {
  const { warmUp, batches, traits } = load.plan;
  const meter = roles.meter("send", `producer ${index + 1}`);
  const isStamped = traits.reads && traits.placement === "balanced";
  return () => runSender(load, spot, { batches: warmUp + batches, isStamped, meter });
}

function roundTrips(
  load: ActorLoad,
  spot: SenderPlan,
  { index, roles }: { index: number; roles: Roles },
): Work {
  const name = `actor ${index + 1}`;
  const meters = { sends: roles.meter("send", name), ways: roles.meter("end-to-end", name) };
  return () => runRoundTrips(load, spot, meters);
}

/** The roles of a run in the order they appear. */
class Roles {
  readonly #around: ActorSurroundings;
  readonly #roles = new Map<MeterKind, Role>();

  constructor(around: ActorSurroundings) {
    this.#around = around;
  }

  get all(): readonly Role[] {
    return [...this.#roles.values()];
  }

  meter(kind: MeterKind, name: string) {
    const role = this.#roles.get(kind) ?? new Role(kind, this.#around.nowMs(), this.#around.onProgress);
    this.#roles.set(kind, role);
    return role.actor(name);
  }
}

async function openClients(count: number, open: () => Promise<Client>): Promise<Client[]> {
  const clients: Client[] = [];
  while (clients.length < count) {
    const length = Math.min(LOGINS_AT_ONCE, count - clients.length);
    clients.push(...(await Promise.all(Array.from({ length }, open))));
  }
  return clients;
}
