// Runs `src/main.ts` of a tool with the sources of all packages, as its `run.mjs` does.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * Starts the tool whose `run.mjs` has that URL and ends as it ends. SIGINT and SIGTERM go to it too: it stops
 * what it has started, then itself.
 */
export function runMain(url) {
  const tsx = createRequire(new URL("../package.json", import.meta.url)).resolve("tsx");
  const flags = ["--conditions=millrace-source", `--import=${pathToFileURL(tsx).href}`];
  const main = fileURLToPath(new URL("src/main.ts", url));
  const child = spawn(process.execPath, [...flags, main, ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => process.exit(code ?? 1));
}
