// Bundles the command and the @millrace/* packages it uses into dist/bin/millrace.js and the chunks beside it,
// which are loaded when they are needed: a transport, the storage of topic verify.
// What package.json lists under dependencies stays outside: npm installs it.
import { chmodSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const inFolder = (path) => fileURLToPath(new URL(path, import.meta.url));
const manifest = JSON.parse(readFileSync(inFolder("package.json"), "utf8"));

rmSync(inFolder("dist/bin"), { recursive: true, force: true });
await build({
  entryPoints: { millrace: inFolder("src/main.ts") },
  outdir: inFolder("dist/bin"),
  splitting: true,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20.19",
  external: [...Object.keys(manifest.dependencies), "@grpc/grpc-js"],
  banner: { js: "#!/usr/bin/env node" },
  legalComments: "none",
  logLevel: "warning",
});
chmodSync(inFolder("dist/bin/millrace.js"), 0o755);
