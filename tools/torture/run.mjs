#!/usr/bin/env node
// Real processes under kill -9. Usage: npm run torture -- [--rounds N] [--seed N] [--keep] [--folder PATH]
import { runMain } from "../run-main.mjs";

runMain(import.meta.url);
