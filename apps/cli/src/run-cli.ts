import { type Command, CommanderError, type HelpContext } from "commander";
import { type DebugLog, openDebugLog } from "./debug-log.ts";
import { ExitCode } from "./exit-codes.ts";
import { failureOf } from "./failures/failure.ts";
import { reportText } from "./failures/report.ts";
import { createRun, type GlobalOptions, type Outcome } from "./invocation.ts";
import type { OutputMode } from "./output/render.ts";
import { BANNER, createProgram } from "./program.ts";
import type { World } from "./world.ts";

/**
 * Runs one command line and answers its exit code. Never throws and never exits the process.
 *
 * @param args the command line without the names of node and of the script
 */
export async function runCli(args: readonly string[], world: World): Promise<ExitCode> {
  const outcome: Outcome = { exitCode: ExitCode.ok };
  const mode = typedMode(args);
  const program = createProgram(createRun(world, debugLogOf, outcome));
  try {
    sendTextsTo(program, world, mode);
    if (args.length === 0) return showOverview(program, world);
    await program.parseAsync([...args], { from: "user" });
    return outcome.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return exitCodeOfParsing(error, world, mode);
    const failure = failureOf(error, {});
    world.stderr.write(reportText(failure, mode));
    return failure.exitCode;
  }
}

function showOverview(program: Command, world: World): ExitCode {
  world.stdout.write(BANNER);
  program.outputHelp();
  return ExitCode.ok;
}

function debugLogOf(options: GlobalOptions): DebugLog {
  return openDebugLog(options.debug);
}

/** The output mode as far as an unparsable command line shows it: errors of parsing follow it too. */
export function typedMode(args: readonly string[]): OutputMode {
  const joined = args.map((arg, index) =>
    arg === "--output" || arg === "-o" ? `--output=${args[index + 1]}` : arg,
  );
  return joined.includes("--output=json") ? "json" : "table";
}

function sendTextsTo(command: Command, world: World, mode: OutputMode): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => world.stdout.write(text),
    writeErr: (text) => world.stderr.write(text),
    outputError: (text, write) => {
      if (mode !== "json") write(`${shortened(text).trimEnd()}\n  next: See ${helpOf(command)}\n`);
    },
  });
  // commander's own `help` ends with whatever exit code its process has by then, which is not this run's.
  command.help = (context?: HelpContext | ((text: string) => string)): never => {
    const isError = typeof context === "object" && context.error;
    command.outputHelp({ error: isError });
    throw new CommanderError(isError ? 1 : 0, "commander.help", "(outputHelp)");
  };
  for (const child of command.commands) sendTextsTo(child, world, mode);
}

function exitCodeOfParsing(error: CommanderError, world: World, mode: OutputMode): ExitCode {
  if (error.exitCode === 0) return ExitCode.ok;
  if (mode === "json") {
    const message = shortened(error.message).replace(/^error: /, "");
    const usage = { exitCode: ExitCode.usage, message, code: undefined, name: undefined, causes: [] };
    world.stderr.write(
      reportText({ ...usage, next: "See what the command takes with --help behind it." }, mode),
    );
  }
  return ExitCode.usage;
}

/** What was typed is repeated where it is wrong, but not all of it: it may be a file by mistake. */
function shortened(text: string): string {
  return text.replace(/'([^']{80})[^']{20,}'/g, "'$1...'");
}

/** How to see the help of a command, as it is typed. */
function helpOf(command: Command): string {
  const names: string[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) names.unshift(one.name());
  return `${names.join(" ")} --help`;
}
