import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bring, cacheFolder } from "../bring.mjs";
import { withTls } from "../tls.mjs";

const version = "0.14.0";
const judgePath = join(dirname(fileURLToPath(import.meta.url)), "judge.mjs");

/** True when the cached binary is there and is the wanted version. */
async function isInstalled(binary) {
  if (!existsSync(binary)) return false;
  return bring(binary, ["--version"]).then(
    (answer) => answer.trim() === `iggy-cli ${version}`,
    () => false,
  );
}

/**
 * Brings the official `iggy` command, compiled from its published crate (once, a few minutes), and says how
 * the judge is run. The build keeps the default features, without which the crate of 0.14.0 does not compile,
 * and leaves out optimisation and debug information, which more than halves its time.
 */
export async function prepareCommandLine() {
  const cache = cacheFolder();
  const root = join(cache, "cli");
  const binary = join(root, "bin", "iggy");
  if (!(await isInstalled(binary))) {
    console.log(`Compiling iggy-cli ${version} (once, a few minutes) ...`);
    mkdirSync(cache, { recursive: true });
    const target = mkdtempSync(join(cache, "target-")); // of this run alone: two may compile at the same time
    const crate = ["install", "iggy-cli", "--version", version, "--locked", "--force", "--root", root];
    const env = { ...process.env, CARGO_TARGET_DIR: target, CARGO_PROFILE_DEV_DEBUG: "false" };
    await bring("cargo", [...crate, "--profile", "dev"], { env });
    rmSync(target, { recursive: true, force: true });
  }
  return { program: process.execPath, args: [judgePath, binary] };
}

/**
 * The same against a server that encrypts HTTP. Over TCP and WebSocket the command trusts only the authorities it
 * was compiled with, so no certificate of ours can be shown to it there.
 */
export const prepareCommandLineWithHttps = () => withTls(prepareCommandLine, ["HTTP"]);
