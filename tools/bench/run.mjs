#!/usr/bin/env node
// Speed as ratios. Usage: npm run bench -- --help
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const tsx = createRequire(new URL("../../package.json", import.meta.url)).resolve("tsx");
const flags = ["--conditions=millrace-source", `--import=${pathToFileURL(tsx).href}`];
const main = fileURLToPath(new URL("src/main.ts", import.meta.url));
const child = spawn(process.execPath, [...flags, main, ...process.argv.slice(2)], { stdio: "inherit" });
child.on("exit", (code) => process.exit(code ?? 1));
