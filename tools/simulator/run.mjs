#!/usr/bin/env node
// A cluster in one thread, from one seed. Usage: npm run simulator -- --help
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const tsx = createRequire(new URL("../../package.json", import.meta.url)).resolve("tsx");
const flags = ["--conditions=millrace-source", `--import=${pathToFileURL(tsx).href}`];
const main = fileURLToPath(new URL("src/main.ts", import.meta.url));
const child = spawn(process.execPath, [...flags, main, ...process.argv.slice(2)], { stdio: "inherit" });
// A terminal sends SIGINT to the child too; it ends after its seed and says where to go on.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code) => process.exit(code ?? 1));
