import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bring, cacheFolder } from "../bring.mjs";
import { withTls } from "../tls.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const officialModule = "github.com/apache/iggy/foreign/go";

/**
 * Builds the Go judge against the official module and says how it is run.
 *
 * The module is the version in `go.mod`, from the proxy that the go command is set up with. A checkout of the
 * module is used instead when MILLRACE_INTEROP_GO_MODULE names its folder. Checksums stay in the cache: no
 * complete `go.sum` can be kept here while the proxy does not serve that version (docs/adr/0003).
 */
export async function prepareGo() {
  const folder = join(cacheFolder(), "go");
  mkdirSync(folder, { recursive: true });
  const modFile = join(folder, "judge.mod");
  copyFileSync(join(here, "go.mod"), modFile);
  const checkout = process.env.MILLRACE_INTEROP_GO_MODULE;
  if (checkout !== undefined)
    await bring("go", ["mod", "edit", `-replace=${officialModule}=${checkout}`, modFile]);
  const binary = join(folder, "judge");
  await bring("go", ["build", `-modfile=${modFile}`, "-mod=mod", "-o", binary, "."], { cwd: here });
  return { program: binary, args: [] };
}

/** The same against a server that encrypts TCP. */
export const prepareGoWithTls = () => withTls(prepareGo);
