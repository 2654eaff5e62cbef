#!/usr/bin/env node
// A cluster in one thread, from one seed. Usage: npm run simulator -- --help
import { runMain } from "../run-main.mjs";

runMain(import.meta.url);
