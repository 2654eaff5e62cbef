import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bring, cacheFolder } from "../bring.mjs";

const here = dirname(fileURLToPath(import.meta.url));

/**
 * Builds the Go judge against the official module and says how it is run.
 *
 * The module comes from the proxy that the go command is set up with, at the version in `go.mod`. Where that cannot
 * be had, the go command's own GOFLAGS=-modfile=... or GOWORK=... can name a checkout; nothing of it is kept here.
 */
export async function prepareGo() {
  const binary = join(cacheFolder(), "judge-go");
  await bring("go", ["build", "-o", binary, "."], { cwd: here });
  return { program: binary, args: [] };
}
