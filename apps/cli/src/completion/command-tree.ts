import type { Command, Option } from "commander";

/** An option as completion sees it. */
export interface TreeOption {
  /** `-o`, `--output`, whichever there are. */
  readonly flags: readonly string[];
  readonly summary: string;
  /** True when the next word is its value. */
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

/** A command or group and where it stands. */
export interface TreeCommand {
  /** Names from the program down: `millrace stream create`. */
  readonly place: string;
  /** The place of the group; nothing for the program. */
  readonly parent: string | undefined;
  readonly names: readonly string[];
  readonly summary: string;
  readonly options: readonly TreeOption[];
  /** Values of arguments that are chosen from a list. */
  readonly choices: readonly string[];
  readonly children: readonly TreeCommand[];
}

/** The tree of a program; hidden options are left out. */
export function treeOf(command: Command, parent?: string): TreeCommand {
  const place = parent === undefined ? command.name() : `${parent} ${command.name()}`;
  return {
    place,
    parent,
    names: [command.name(), ...command.aliases()],
    summary: command.description(),
    options: command.createHelp().visibleOptions(command).map(treeOption),
    choices: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
    children: command.commands.map((child) => treeOf(child, place)),
  };
}

/** The command and everything below it, from the top. */
export function flattened(tree: TreeCommand): readonly TreeCommand[] {
  return [tree, ...tree.children.flatMap(flattened)];
}

function treeOption(option: Option): TreeOption {
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    summary: option.description,
    takesValue: option.required,
    choices: option.argChoices ?? [],
  };
}
