import { cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bring, cacheFolder } from "../bring.mjs";
import { withTls } from "../tls.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/**
 * Compiles the Rust judge with the published crate `iggy` of the version in `Cargo.toml` and says how it is run.
 *
 * The first time takes minutes of two cores. What was compiled, and the lock file with the versions of everything
 * beneath the crate, stay in the cache; only the judge itself is compiled again when it changes.
 */
export async function prepareRust() {
  const folder = join(cacheFolder(), "rust");
  mkdirSync(folder, { recursive: true });
  for (const name of ["Cargo.toml", "src"]) {
    cpSync(join(here, name), join(folder, name), { recursive: true, preserveTimestamps: true });
  }
  console.log("Compiling the Rust judge (the first time takes minutes) ...");
  await bring("nice", ["cargo", "build", "--quiet", "--jobs", "2"], { cwd: folder });
  return { program: join(folder, "target", "debug", "millrace-interop"), args: [] };
}

/** The same against a server that encrypts every listener. */
export const prepareRustWithTls = () => withTls(prepareRust);
