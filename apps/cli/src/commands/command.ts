import { type Command, Option } from "commander";
import type { Run } from "../invocation.ts";

/** Adds one command, or one group with its commands, to the program or to a group. */
export type AddCommand = (parent: Command, run: Run) => void;

/** Name, short form and summary of a command. */
export interface Names {
  readonly name: string;
  readonly alias?: string | readonly string[];
  readonly summary: string;
}

/** Starts a command that can run: it has `--output` like every other. */
export function leaf(parent: Command, { name, alias, summary }: Names): Command {
  const command = parent.command(name).description(summary).addOption(outputOption());
  return command.aliases([alias ?? []].flat());
}

/** Starts a list command: besides `--output` it has the `-l, --list-mode` of compatible scripts. */
export function listLeaf(parent: Command, names: Names): Command {
  return leaf(parent, names).addOption(
    new Option("-l, --list-mode <mode>", "same as --output, for compatible scripts").choices([
      "table",
      "list",
    ]),
  );
}

/**
 * Adds a group of commands. Without a command of the group it shows its help and fails as a wrong command
 * line.
 */
export function group(parent: Command, names: Names, commands: readonly AddCommand[], run: Run): void {
  const command = parent.command(names.name).description(names.summary);
  command.aliases([names.alias ?? []].flat());
  for (const add of commands) add(command, run);
}

/** How the answer is printed; accepted before and after the command. */
export function outputOption(): Option {
  return new Option("--output <mode>", "how to print the answer").choices(["table", "list", "json"]);
}
