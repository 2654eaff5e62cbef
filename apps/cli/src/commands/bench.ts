import { accessSync, constants, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parseByteSize } from "@millrace/protocol";
import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { benchResult } from "../bench/bench-result.ts";
import { type BenchOptions, planBench } from "../bench/plan.ts";
import { reportPage } from "../bench/report/report-page.ts";
import { type BenchTarget, runBench } from "../bench/run-bench.ts";
import { SCENARIO_NAMES, SCENARIOS, type ScenarioName } from "../bench/scenarios.table.ts";
import type { ServerTarget } from "../connection/server-target.ts";
import { wholeNumber } from "../formats/whole-number.ts";
import { type AddCommand, leaf } from "./command.ts";

interface Typed extends BenchOptions {
  readonly report?: string;
}

/** Each actor has a connection of its own, and all share this process. */
const ACTORS_MAX = 1_000;
/** As a request carries at most 64 MiB, and the server at most this many of a payload. */
const MESSAGE_SIZE_MAX = 64_000_000;
const actors = wholeNumber({ min: 1, max: ACTORS_MAX });

/** `millrace bench SCENARIO` */
export const addBench: AddCommand = (parent, run) => {
  const command = leaf(parent, {
    name: "bench",
    summary: "measure a server with streams of its own, which are deleted afterwards",
  }).addArgument(new Argument("<scenario>", "what the actors do").choices(SCENARIO_NAMES));
  addLoadOptions(command);
  addActorOptions(command);
  command
    .option("--report <file>", "write an HTML page with charts there")
    .addHelpText("after", scenarioHelp())
    .action(
      run(async ({ client, newClient, server, world, output }, scenario: ScenarioName, typed: Typed) => {
        const { report, ...options } = typed;
        const plan = planBench(scenario, options);
        if (report !== undefined) accessSync(dirname(report), constants.W_OK);
        const ran = await runBench(plan, {
          target: targetOf(server()),
          client: await client(),
          newClient,
          nowMs: world.elapsedMs,
          onInterrupt: world.onInterrupt,
          remark: output.remark,
        });
        if (report !== undefined) writeFileSync(report, reportPage(ran, new Date().toISOString()));
        return benchResult(ran);
      }),
    );
};

function targetOf({ address, client }: ServerTarget): BenchTarget {
  const isEncrypted = client.tls !== undefined && client.tls !== false;
  return { address, transport: `${client.transport ?? "tcp"}${isEncrypted ? "+tls" : ""}` };
}

function addLoadOptions(command: Command): void {
  command
    .option("--message-size <n>", "bytes of a payload", wholeNumber({ min: 1, max: MESSAGE_SIZE_MAX }), 1_000)
    .option(
      "--messages-per-batch <n>",
      "messages of a request",
      wholeNumber({ min: 1, max: 1_000_000 }),
      1_000,
    )
    .option("--batches <n>", "requests of each actor that count", wholeNumber({ min: 1, max: 1e9 }), 1_000)
    .option(
      "--warm-up <n>",
      "requests of each actor before them that do not",
      wholeNumber({ min: 0, max: 1e9 }),
      50,
    )
    .option(
      "--in-flight <n>",
      "requests of an actor without an answer at once",
      wholeNumber({ min: 1, max: 16 }),
      1,
    )
    .option("--rate-limit <size>", "payload bytes a second of all actors together, such as 10MB", parseRate)
    .addOption(
      new Option("--durability <kind>", "when the server confirms (default: the server's)").choices([
        "replicated",
        "persisted",
      ]),
    );
}

function addActorOptions(command: Command): void {
  command
    .option("--streams <n>", "streams to make", actors, 1)
    .option("--topics <n>", "topics in each", actors, 1)
    .option(
      "--partitions <n>",
      "partitions of a topic (default: one an actor)",
      wholeNumber({ min: 1, max: 1_000 }),
    )
    .option(
      "--producers <n>",
      "producers, or actors of an end-to-end scenario (default: one a topic)",
      actors,
    )
    .option("--consumers <n>", "consumers, or members of all groups (default: one a topic)", actors)
    .option("--groups <n>", "consumer groups (default: one a topic)", actors);
}

/** Bytes a second. @throws InvalidArgumentError */
function parseRate(text: string): number {
  const bytes = parseByteSize(text);
  if (bytes !== undefined && bytes > 0n) return Number(bytes);
  throw new InvalidArgumentError("It must be a size such as 10MB or 512KiB, above 0.");
}

function scenarioHelp(): string {
  const width = Math.max(...SCENARIO_NAMES.map((name) => name.length));
  const lines = SCENARIO_NAMES.map((name) => `  ${name.padEnd(width)}  ${SCENARIOS[name].summary}`);
  return `\nScenarios:\n${lines.join("\n")}\n`;
}
