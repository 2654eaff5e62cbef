import type { VersionPrefix } from "@millrace/protocol";

/**
 * Client libraries that give every write a number of its own and keep it when they send the write again. Of
 * others the number says nothing: the pre-release Node client of Iggy sends many batches under one.
 * @see wire-protocol section 5.5
 */
const COUNTING_SDKS: ReadonlySet<string> = new Set(["millrace-node"]);

/** True when the request numbers of whoever logs in like this tell his requests apart. */
export function countsRequests({ sdkName }: Pick<VersionPrefix, "sdkName">): boolean {
  return COUNTING_SDKS.has(sdkName);
}
