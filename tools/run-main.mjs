// Runs `src/main.ts` of a tool with the sources of all packages, as its `run.mjs` does.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(new URL("../package.json", import.meta.url));

/**
 * Starts the tool whose `run.mjs` has that URL and ends as it ends. SIGINT and SIGTERM go to it too: it stops
 * what it has started, then itself.
 */
export function runMain(url) {
  const tsx = pathToFileURL(require.resolve("tsx")).href;
  start(["--conditions=millrace-source", `--import=${tsx}`, mainOf(url)]);
}

/**
 * How the engine runs a tool that computes for long: with room (in MiB) in which it leaves its garbage for a
 * while, without forgetting code that is needed once in a while, and with smaller functions to compile. Else a
 * third of the time goes into garbage and compiling. None of it changes what is computed.
 */
const ENGINE = [
  ...["--initial-old-space-size=512", "--min-semi-space-size=32", "--max-semi-space-size=32"],
  ...["--no-flush-bytecode", "--max-inlined-bytecode-size-cumulative=300"],
];

/**
 * As `runMain`, for a tool that computes for long: its sources are put into one file first, in which functions
 * need no names set at run time. It takes half a second and saves a quarter of the rest.
 */
export async function runBundled(url) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-tool-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const outfile = join(folder, "main.mjs");
  try {
    await require("esbuild").build({
      ...{ entryPoints: [mainOf(url)], outfile, bundle: true, sourcemap: true, logLevel: "warning" },
      ...{ platform: "node", target: "node20", format: "esm", conditions: ["millrace-source"] },
      // Packages in the older module format ask for built-ins by `require`.
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    });
  } catch {
    // What is wrong was said.
    remove();
    process.exit(1);
  }
  start([...ENGINE, "--enable-source-maps", outfile], remove);
}

function mainOf(url) {
  return fileURLToPath(new URL("src/main.ts", url));
}

function start(args, ended = () => {}) {
  const child = spawn(process.execPath, [...args, ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code) => {
    ended();
    process.exit(code ?? 1);
  });
}
