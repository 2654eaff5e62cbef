import type { NodePacket } from "../client/packets.ts";
import type { CrashKind } from "../disk/crash-kind.ts";
import { Device } from "../disk/device.ts";
import { type GroupPlan, TICK_MICROS } from "../seed-plan.ts";
import { addressOf, type World } from "../world.ts";
import { GroupHost } from "./group-host.ts";
import { GroupStore } from "./group-store.ts";

/** What arrives at a stopped process waits up to this many; then it is lost, as in a full socket buffer. */
const WAITING_MAX = 2000;

/**
 * One machine: a process with a replica of every group, a disk that outlives it and a clock of its own pace.
 * The process can end and start again, or stand still for a while.
 */
export class SimNode {
  readonly world: World;
  readonly index: number;
  readonly device: Device;
  readonly stores: readonly GroupStore[];
  /** How fast its clock runs; 1 is right. */
  clockRate: number;
  status: "up" | "down" | "paused" = "down";
  readonly #skewMicros: number;
  #hosts: GroupHost[] = [];
  #life = 0;
  #waiting: (() => void)[] = [];

  constructor(world: World, index: number) {
    const { plan, chance, queue } = world;
    this.world = world;
    this.index = index;
    this.device = new Device(queue, chance.fork(), plan.device);
    this.stores = plan.groups.map((group) => new GroupStore(this.device, plan, group));
    this.clockRate = 1 + (2 * chance.fraction() - 1) * plan.driftMax;
    this.#skewMicros = chance.below(10_000_000);
  }

  get wallMicros(): number {
    return this.#skewMicros + Math.floor(this.world.queue.nowMicros * this.clockRate);
  }

  /** Lost written data of some group, and has not made up for it. */
  get isHarmed(): boolean {
    return this.stores.some((store) => store.isHarmed);
  }

  host({ group }: GroupPlan): GroupHost {
    return this.#hosts[group] as GroupHost;
  }

  /** The replicas of a process that lives. */
  get hosts(): readonly GroupHost[] {
    return this.#hosts;
  }

  start(): void {
    if (this.status !== "down") return;
    this.#life += 1;
    this.status = "up";
    this.#hosts = this.world.plan.groups.map(
      (group) => new GroupHost(this, group, this.stores[group.group] as GroupStore),
    );
    this.#tickLater(this.#life);
  }

  crash(kind: CrashKind): void {
    if (kind === "kill" && this.status === "down") return;
    this.status = "down";
    this.#life += 1;
    this.#waiting = [];
    this.#hosts = [];
    for (const store of this.stores) store.crash(kind);
  }

  pause(): void {
    if (this.status === "up") this.status = "paused";
  }

  resume(): void {
    if (this.status !== "paused") return;
    this.status = "up";
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const act of waiting) this.give(act);
  }

  /**
   * Gives the process something to do: now, after its pause, or never when it ends before. What a crash is to
   * forget must be given in the life that asked for it.
   */
  give(act: () => void): void {
    if (this.status === "up") act();
    else if (this.status === "paused") this.#waiting.push(act);
  }

  /** A packet arrives. */
  receive(act: () => void): void {
    if (this.status === "paused" && this.#waiting.length >= WAITING_MAX) return;
    this.give(act);
  }

  sendToNode(to: number, act: (node: SimNode) => void): void {
    const node = this.world.nodes[to];
    if (node !== undefined) this.world.network.send(this.index, to, () => node.receive(() => act(node)));
  }

  sendToClient(id: bigint, packet: NodePacket): void {
    const client = this.world.clients[Number(id) - 1];
    if (client === undefined) return;
    const { index } = this;
    this.world.network.send(index, addressOf(this.world, client), () => client.onPacket(index, packet));
  }

  #tickLater(life: number): void {
    this.world.queue.after(TICK_MICROS / this.clockRate, () => {
      if (life !== this.#life) return;
      if (this.status === "up") for (const host of this.#hosts) host.tick();
      this.#tickLater(life);
    });
  }
}
