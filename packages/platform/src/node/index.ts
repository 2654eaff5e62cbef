/**
 * The platform on Node: real clock, real disk, real chance.
 *
 * ```ts
 * import { createNodePlatform } from "@millrace/platform/node";
 *
 * const { disk } = createNodePlatform({ dataPath: "./local_data" });
 * await disk.makeDirectory("streams");
 * ```
 *
 * @packageDocumentation
 */
export { type ControlGroupLimits, controlGroupLimits } from "./control-group.ts";
export { createNodeCipher } from "./node-cipher.ts";
export { createNodeClock } from "./node-clock.ts";
export { NodeDisk } from "./node-disk.ts";
export { createNodeHost } from "./node-host.ts";
export { createNodePasswords, type ScryptCost } from "./node-passwords.ts";
export { createNodePlatform } from "./node-platform.ts";
export { nodeRandom } from "./node-random.ts";
export { createShardWay, NodeShardBus, type ShardWayEnd } from "./shards/node-shard-bus.ts";
