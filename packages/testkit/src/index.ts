/**
 * Golden bytes, seeded chance, certificates and clusters of processes; imported by tests and tools only.
 *
 * ```ts
 * import { fromHex, goldenCases } from "@millrace/testkit";
 *
 * for (const one of goldenCases("identifier")) fromHex(one.expected_hex ?? "");
 * ```
 *
 * @packageDocumentation
 */
export { fromHex, toHex, utf8 } from "./bytes.ts";
export { makeTestAuthority, type TestAuthority, type TestCertificate } from "./certificates.ts";
export {
  type ClusterConfig,
  clusterConfig,
  type NodeListener,
  type NodePorts,
} from "./cluster/cluster-config.ts";
export { freePort, freePorts } from "./cluster/free-ports.ts";
export {
  NODES,
  type NodePlace,
  type NodeProcess,
  ThreeNodes,
  type ThreeNodesOptions,
} from "./cluster/three-nodes.ts";
export { type CapturedFrame, capturedFrames, type GoldenCase, goldenCase, goldenCases } from "./golden.ts";
export { byteByByte, ReplyProxy, type ReplyShape, splitAt } from "./reply-proxy.ts";
export { type ScenarioSizes, scenarioSize } from "./scenario-size.ts";
export { SeededRandom } from "./seeded-random.ts";
