/**
 * The platform in memory, for tests and the simulator: time, chance and failing disks from one seed.
 *
 * ```ts
 * import { createSimPlatform } from "@millrace/platform/sim";
 *
 * const { disk, clock } = createSimPlatform({ seed: 7 });
 * await disk.writeWhole("format", new Uint8Array([1]));
 * const afterPowerLoss = disk.crash();
 * clock.advance(1000);
 * ```
 *
 * @packageDocumentation
 */
export {
  type DiskCall,
  type DiskFault,
  type DiskFaults,
  type FaultChances,
  faultAt,
  seededFaults,
} from "./disk-faults.ts";
export { SimClock } from "./sim-clock.ts";
export type { CrashKeep } from "./sim-content.ts";
export type { SimDiskOptions } from "./sim-device.ts";
export { SimDisk } from "./sim-disk.ts";
export {
  createSimPeerBuses,
  type Packet,
  type SimPeerBuses,
  type SimPeerBusOptions,
} from "./sim-peer-bus.ts";
export { createSimPlatform, type SimPlatform, type SimPlatformOptions } from "./sim-platform.ts";
export { SimRandom } from "./sim-random.ts";
export { createSimShardBuses, type SimShardBusOptions } from "./sim-shard-bus.ts";
