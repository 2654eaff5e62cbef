/**
 * Golden bytes and seeded chance for tests; imported by tests only.
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
export { type CapturedFrame, capturedFrames, type GoldenCase, goldenCase, goldenCases } from "./golden.ts";
export { byteByByte, ReplyProxy, type ReplyShape, splitAt } from "./reply-proxy.ts";
export { type ScenarioSizes, scenarioSize } from "./scenario-size.ts";
export { SeededRandom } from "./seeded-random.ts";
