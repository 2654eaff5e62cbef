import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort, SeededRandom } from "@millrace/testkit";
import { asViolation } from "../oracle/violation.ts";
import { builtServer } from "../server/built-server.ts";
import { ServerProcess } from "../server/server-process.ts";
import { SOAK_SETTINGS } from "./soak-place.ts";
import { type SoakReport, SoakRun } from "./soak-run.ts";

/** 200 in twenty minutes. */
const EVENTS_PER_MINUTE = 10;

/**
 * Members of a consumer group come and go for some minutes while a producer goes on. Ends the process: 0 when
 * every message was handled in time and nothing is left to read.
 */
export async function soak(args: string[]): Promise<never> {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: "string", default: "2" },
      events: { type: "string" },
      seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 32)) },
    },
  });
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error("--minutes is no number above 0");
  const events =
    values.events === undefined ? Math.round(minutes * EVENTS_PER_MINUTE) : Number(values.events);
  if (!Number.isInteger(events) || events < 1) throw new Error("--events is no whole number above 0");
  console.log(`seed ${values.seed}`);
  const folder = mkdtempSync(join(tmpdir(), "millrace-soak-"));
  const server = new ServerProcess({
    entry: builtServer(),
    folder,
    port: await freePort(),
    settings: SOAK_SETTINGS,
  });
  await server.start();
  const run = new SoakRun(server.address, new SeededRandom(Number(values.seed)));
  process.on("exit", () => {
    run.killAll();
    server.killNow();
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
  const isGood = await run.run({ minutes, events }).then(print, (error: unknown) => {
    const { kind, message } = asViolation(error);
    console.log(`\nVIOLATION (${kind}): ${message}\ndata and log: ${folder}`);
    return false;
  });
  await server.kill();
  if (isGood) rmSync(folder, { recursive: true, force: true });
  process.exit(isGood ? 0 : 1);
}

function print({ happenings, count, repeatedCount, longestWaitMs }: SoakReport): boolean {
  const events = Object.entries(happenings).map(([happening, times]) => `${happening} ${times}`);
  const total = Object.values(happenings).reduce((sum, times) => sum + times, 0);
  console.log(`${total} events: ${events.join(", ")}`);
  console.log(`${count} messages handled, ${repeatedCount} of them again; lag 0 at the end`);
  console.log(`longest wait ${Math.round(longestWaitMs)} ms`);
  return true;
}
