import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { asViolation } from "../oracle/violation.ts";
import { serverEntry } from "../server/built-server.ts";
import { wholeNumber } from "../whole-number.ts";
import { ClusterNodes } from "./cluster-nodes.ts";
import { ClusterRun } from "./cluster-run.ts";
import { ClusterStrangers } from "./cluster-strangers.ts";

/**
 * Runs rounds of faults on a cluster of three processes. Ends the process: 0 when nothing that was
 * acknowledged is lost, moved, doubled or altered, the nodes agree, and writing went on after each round.
 */
export async function clusterCommand(args: readonly string[]): Promise<never> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "10" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 32)) },
      server: { type: "string" },
      keep: { type: "boolean", default: false },
      folder: { type: "string", default: tmpdir() },
    },
  });
  const rounds = wholeNumber("rounds", values.rounds, 1_000_000);
  const seed = wholeNumber("seed", values.seed, 2 ** 32 - 1);
  console.log(`seed ${seed}`);
  mkdirSync(resolve(values.folder), { recursive: true });
  const folder = mkdtempSync(join(resolve(values.folder), "millrace-cluster-"));
  const entry = serverEntry(values.server);
  const nodes = await ClusterNodes.prepare(entry, folder);
  const strangers = new ClusterStrangers(nodes, { entry, folder });
  const onExit = () => nodes.killNow();
  process.on("exit", onExit);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
  const isGood = await runRounds({ nodes, strangers, seed, rounds }).catch((error: unknown) => {
    const { kind, message } = asViolation(error);
    console.log(`\nVIOLATION (${kind}): ${message}`);
    return false;
  });
  await nodes.close();
  if (!isGood || values.keep) console.log(`data and logs: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  process.exit(isGood ? 0 : 1);
}

interface Plan {
  readonly nodes: ClusterNodes;
  readonly strangers: ClusterStrangers;
  readonly seed: number;
  readonly rounds: number;
}

async function runRounds({ nodes, strangers, seed, rounds }: Plan): Promise<boolean> {
  const run = new ClusterRun(nodes, seed);
  await run.begin();
  console.log(`refused: ${await run.meet(strangers)}, and bytes that are no handshake`);
  for (let number = 1; number <= rounds; number += 1) {
    const startedMs = performance.now();
    const told = await run.round(number);
    console.log(`round ${number}: ${told}; ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  }
  console.log(await run.finish());
  return true;
}
