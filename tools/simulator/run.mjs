#!/usr/bin/env node
// A cluster in one thread, from one seed. Usage: npm run simulator -- --help
import { runBundled } from "../run-main.mjs";

await runBundled(import.meta.url);
