// Bundles the server, every private workspace package and the libraries it uses into dist/bin, which is all that is
// published. Finding and wrapping hundreds of library modules took half of a start (ADR 0044).
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundledLicenses } from "./bundled-licenses.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "dist", "bin");
const manifest = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });

// Metrics of the process come from us. The library's own would bring @opentelemetry/api, which not everybody installs.
const withoutDefaultMetrics = {
  name: "without-default-metrics",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/lib\/defaultMetrics$/ }, ({ path }) => ({ path, namespace: "left-out" }));
    onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "" }));
  },
};

const { metafile } = await build({
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
  // ES modules lose what nobody uses, the others do not.
  mainFields: ["module", "main"],
  external: [...Object.keys(manifest.peerDependencies), "utf-8-validate"],
  // CommonJS libraries in the bundle ask for Node's own modules by this name.
  banner: {
    js: 'import { createRequire as requireFrom } from "node:module";\nconst require = requireFrom(import.meta.url);',
  },
  plugins: [withoutDefaultMetrics],
  sourcemap: "linked",
  sourcesContent: false,
  legalComments: "none",
  metafile: true,
});
writeFileSync(join(target, "THIRD-PARTY-NOTICES.txt"), bundledLicenses(metafile));

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
