// Bundles the command and the @millrace/* packages it uses into one file, dist/bin/millrace.js.
// What package.json lists under dependencies stays outside: npm installs it.
import { chmodSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const inFolder = (path) => fileURLToPath(new URL(path, import.meta.url));
const manifest = JSON.parse(readFileSync(inFolder("package.json"), "utf8"));

await build({
  entryPoints: [inFolder("src/main.ts")],
  outfile: inFolder("dist/bin/millrace.js"),
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
