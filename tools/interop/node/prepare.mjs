import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bring, cacheFolder } from "../bring.mjs";
import { withTls } from "../tls.mjs";

/** The pre-release that speaks the protocol of 0.9.0. */
const version = "0.10.0-edge.4";
const judgePath = join(dirname(fileURLToPath(import.meta.url)), "judge.mjs");

/** Installs the published package into the cache; the path of its front door. */
async function officialPackage() {
  const folder = join(cacheFolder(), "node");
  mkdirSync(folder, { recursive: true });
  const manifest = { private: true, dependencies: { "apache-iggy": version } };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  await bring("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"], { cwd: folder });
  return join(folder, "node_modules", "apache-iggy", "dist", "index.js");
}

/**
 * Brings the official Node client and says how the judge is run.
 *
 * A build of a checkout is judged instead when MILLRACE_INTEROP_NODE_SDK names its `dist/index.js`: the published
 * package cannot be downloaded everywhere yet (docs/adr/0029).
 */
export async function prepareNode() {
  const client = process.env.MILLRACE_INTEROP_NODE_SDK ?? (await officialPackage());
  return { program: process.execPath, args: [judgePath, client] };
}

/** The same against a server that encrypts TCP. */
export const prepareNodeWithTls = () => withTls(prepareNode);
