import { BROKER_DEFAULTS, type Broker, createBroker } from "@millrace/broker";
import { isCodedError } from "@millrace/errors";
import { BlockPool, createChecksumKernel } from "@millrace/framing";
import type { Log } from "@millrace/platform";
import { createSimPlatform, type SimClock, type SimDisk } from "@millrace/platform/sim";
import type { ClusterMetadata } from "@millrace/protocol";
import { createMemoryTransport, type MemoryTransport } from "@millrace/transports/memory";
import { Violation } from "../oracle/violation.ts";
import { SimClient } from "./sim-client.ts";

const MIB = 1_048_576;
/** Simulated milliseconds after which something that was waited for hangs. */
const WAIT_MAX_MS = 120_000;
/** One for all servers of a process: each takes gigabytes of address space. */
const kernel = createChecksumKernel({ memoryLength: 32 * MIB });

const CONFIG = {
  ...BROKER_DEFAULTS,
  messageLengthMax: 4 * MIB,
  tailCacheLengthMax: MIB,
  // Snapshots, scrubbing, expiry and the return of sessions happen within the few seconds of a run.
  snapshotEveryOps: 16,
  messageCleaner: { isEnabled: true, intervalMs: 100 },
  scrubber: { isEnabled: true, intervalMs: 50, bytesPerSecond: 64 * MIB },
};

const ROSTER: ClusterMetadata = { name: "simulation", nodes: [] };

/** A whole broker over a simulated disk and clock. One process of it lives from a start to its end. */
export class SimServer {
  readonly disk: SimDisk;
  readonly clock: SimClock;
  readonly #broker: Broker;
  readonly #pool: BlockPool;
  readonly #transport: MemoryTransport;
  readonly #clients: SimClient[] = [];

  private constructor(disk: SimDisk, clock: SimClock, broker: Broker, pool: BlockPool) {
    this.disk = disk;
    this.clock = clock;
    this.#broker = broker;
    this.#pool = pool;
    this.#transport = createMemoryTransport({ leases: pool });
    this.#transport.listen((connection) => broker.onConnection(connection));
  }

  /** Begins a start on a disk; settles when the server is ready. Rejects with why it is not. */
  static async start(disk: SimDisk, clock: SimClock, start: { seed: number; log: Log }): Promise<SimServer> {
    const platform = createSimPlatform({ ...start, disk, clock });
    const pool = new BlockPool(kernel.memory, { checked: true, blockLength: MIB / 4 });
    const broker = await createBroker({
      platform,
      kernel,
      pool,
      config: CONFIG,
      roster: () => ROSTER,
      rootUser: async () => ({ name: "iggy", passwordHash: await platform.passwords.hash("iggy") }),
    });
    return new SimServer(disk, clock, broker, pool);
  }

  /** A client that is logged in under the id, unless the process ends before; see `SimClient`. */
  async login(client: bigint, firstNumber: number): Promise<SimClient> {
    const one = new SimClient(this.#transport.connect(), client, BigInt(firstNumber));
    this.#clients.push(one);
    await drive(this.clock, one.login());
    return one;
  }

  /** Lets time pass until something is answered. */
  drive<T>(promise: Promise<T>): Promise<T> {
    return drive(this.clock, promise);
  }

  /** Stops in order. */
  async stop(): Promise<SimDisk> {
    await this.#end(1000);
    return this.disk;
  }

  /** Ends the process at once, as `kill -9` does or as power loss does; the disk the next one finds. */
  async kill(how: "kill" | "power"): Promise<SimDisk> {
    const left = how === "kill" ? this.disk.kill() : this.disk.crash();
    for (const client of this.#clients) client.close();
    // What is left of it in this process lets its memory go.
    await this.#end(0);
    return left;
  }

  /** Lets what is left of a process in this one go, when its disk is gone. */
  abandon(): Promise<void> {
    return this.#end(0);
  }

  async #end(drainMs: number): Promise<void> {
    const stopped = this.#broker.stop({ drainMs });
    await drive(this.clock, drainMs > 0 ? stopped : stopped.catch(onlyDisks));
    for (const client of this.#clients) client.close();
    if (this.#pool.leasesOut > 0) throw new Violation("server", "message memory is held after the end");
  }
}

/** A disk that is gone refuses what a stop would write. */
function onlyDisks(error: unknown): void {
  if (!isCodedError(error)) throw error;
}

/** Lets simulated time pass until `promise` settles. @throws Violation server when it does not in time */
export async function drive<T>(clock: SimClock, promise: Promise<T>): Promise<T> {
  let isSettled = false;
  const settle = () => {
    isSettled = true;
  };
  promise.then(settle, settle);
  for (let ms = 0; !isSettled; ms += 1) {
    if (ms >= WAIT_MAX_MS) throw new Violation("server", "no answer within two minutes of simulated time");
    await clock.run(1);
  }
  return promise;
}
