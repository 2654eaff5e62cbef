// Bundles the server with every private workspace package into dist/bin, which is all that is published.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "dist", "bin");
const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

await build({
  entryPoints: {
    server: join(here, "src", "main.ts"),
    shard: join(here, "src", "shards", "shard-worker.ts"),
  },
  outdir: target,
  outExtension: { ".js": ".mjs" },
  // What is loaded on demand stays in files of its own: gRPC needs a package that not everybody installs.
  splitting: true,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  conditions: ["millrace-source"],
  external: [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies ?? {})],
  sourcemap: "linked",
  sourcesContent: false,
  legalComments: "none",
});

// The first module of a Node process is loaded through the thread pool when it is an ES module; as CommonJS it is
// not, so the pool's size can still be chosen here.
writeFileSync(join(target, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
writeFileSync(
  join(target, "millrace-server.js"),
  `#!/usr/bin/env node
"use strict";
process.env.UV_THREADPOOL_SIZE ||= "16";
import("./server.mjs");
`,
  { mode: 0o755 },
);
