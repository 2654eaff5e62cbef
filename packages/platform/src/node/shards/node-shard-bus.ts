import { MessageChannel, type MessagePort } from "node:worker_threads";
import { assert } from "@millrace/errors";
import type { ShardBus } from "../../shard-bus.ts";
import { createRingBuffer, Ring } from "./ring.ts";
import { RingPort } from "./ring-port.ts";

/**
 * Bytes of a ring: room for some ten thousand descriptors, more than one partition has on its way. Many busy
 * ones have more together; what finds no room then waits in `RingPort`, in order. That line is as long as
 * what was asked and not answered, which connections and partitions bound: 1,024 requests of a connection.
 */
const RING_LENGTH = 1_048_576;

/**
 * One end of the way between shard 0 and another shard. Goes to a worker with `doorbell` in its transfer
 * list.
 */
export interface ShardWayEnd {
  readonly out: SharedArrayBuffer;
  readonly in: SharedArrayBuffer;
  readonly doorbell: MessagePort;
}

/** Makes the way between shard 0 and another shard. */
export function createShardWay(): { readonly front: ShardWayEnd; readonly owner: ShardWayEnd } {
  const [there, back] = [createRingBuffer(RING_LENGTH), createRingBuffer(RING_LENGTH)];
  const { port1, port2 } = new MessageChannel();
  return {
    front: { out: there, in: back, doorbell: port1 },
    owner: { out: back, in: there, doorbell: port2 },
  };
}

/** The bus of one shard on Node: rings in shared memory. Set `onMessage`, then call `start`. */
export class NodeShardBus implements ShardBus {
  onMessage: (from: number, message: Uint8Array) => void = () => {};
  readonly shard: number;
  readonly shardsCount: number;
  readonly #ports = new Map<number, RingPort>();

  /** @param ways  for shard 0 the way to each other shard, for another its way to shard 0, by number */
  constructor(shard: number, shardsCount: number, ways: ReadonlyMap<number, ShardWayEnd>) {
    this.shard = shard;
    this.shardsCount = shardsCount;
    for (const [other, way] of ways) {
      const port = new RingPort({ out: new Ring(way.out), in: new Ring(way.in) }, way.doorbell);
      port.onMessage = (message) => this.onMessage(other, message);
      this.#ports.set(other, port);
    }
  }

  /** Begins to take messages. */
  start(): void {
    for (const port of this.#ports.values()) port.start();
  }

  send(to: number, message: Uint8Array): void {
    const port = this.#ports.get(to);
    assert(port !== undefined, "shard 0 speaks with every shard, the others with shard 0");
    port.send(message);
  }

  /** Ends listening. What was not taken yet is lost. */
  close(): void {
    for (const port of this.#ports.values()) port.close();
  }
}
