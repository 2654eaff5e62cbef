#!/usr/bin/env node
// Speed as ratios. Usage: npm run bench -- --help
import { runMain } from "../run-main.mjs";

runMain(import.meta.url);
