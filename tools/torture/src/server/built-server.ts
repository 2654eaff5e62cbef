import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Path of the built server; builds the repository first when there is none. */
export function builtServer(): string {
  const folder = join(root, "apps", "server");
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const entry = join(folder, manifest.bin["millrace-server"]);
  if (!existsSync(entry)) {
    execFileSync(process.execPath, [join(root, "tools", "dev.mjs"), "build"], { stdio: "inherit" });
  }
  return entry;
}

/** The entry that an option names, or the built one. */
export function serverEntry(path: string | undefined): string {
  return path === undefined ? builtServer() : resolve(path);
}
