import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Path of Node 24, which comes as a package. Ends the process when it is not there. */
export function node24() {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve(`node-linux-${process.arch}/package.json`));
  const node = join(folder, "bin", "node");
  if (existsSync(node)) return node;
  console.error(`Node 24 is not at ${node}; install again on Linux x64 or arm64.`);
  process.exit(1);
}
