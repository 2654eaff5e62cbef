import { flattened, type TreeCommand, type TreeOption } from "./command-tree.ts";

/** Patterns of a shell's `case` and what is to be done when one matches. */
export interface ShellCase {
  readonly patterns: readonly string[];
  readonly action: string;
}

/**
 * Cases over `PLACE|WORD` that walk the words of a command line: into a command, or over an option's value.
 * Bash and zsh write them alike.
 */
export function walkCases(
  tree: TreeCommand,
  actions: { readonly skip: string; readonly enter: (place: string) => string },
) {
  return flattened(tree).flatMap((command): ShellCase[] => {
    const valued = command.options.filter(({ takesValue }) => takesValue).flatMap(({ flags }) => flags);
    const skip = { patterns: valued.map((flag) => quoted(`${command.place}|${flag}`)), action: actions.skip };
    const entered = command.children.map((child) => ({
      patterns: child.names.map((name) => quoted(`${command.place}|${name}`)),
      action: actions.enter(quoted(child.place)),
    }));
    return valued.length === 0 ? entered : [skip, ...entered];
  });
}

/** Cases over `PLACE|WORD BEFORE`: what an option's value may be, a file when no list says it. */
export function valueCases(
  tree: TreeCommand,
  actions: { words: (words: string) => string; files: string },
): ShellCase[] {
  return flattened(tree).flatMap((command) =>
    command.options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, choices }) => ({
        patterns: flags.map((flag) => quoted(`${command.place}|${flag}`)),
        action: choices.length === 0 ? actions.files : actions.words(quoted(choices.join(" "))),
      })),
  );
}

/** Words that may stand at a place: commands, fixed values of arguments, and options. */
export function wordCases(tree: TreeCommand, words: (words: string) => string): ShellCase[] {
  return flattened(tree).map((command) => ({
    patterns: [quoted(command.place)],
    action: words(quoted(wordsOf(command).join(" "))),
  }));
}

/** What a shell without `case` looks up: keys are `PLACE|WORD`, and for words `PLACE`. */
export interface PlaceTables {
  /** The place a word leads to. */
  readonly entered: readonly (readonly [key: string, place: string])[];
  /** Options with a value, and what it may be; an empty list stands for a file. */
  readonly valued: readonly (readonly [key: string, choices: readonly string[]])[];
  /** Words that may stand at a place. */
  readonly words: readonly (readonly [place: string, words: readonly string[]])[];
}

/** The tree as tables. */
export function placeTables(tree: TreeCommand): PlaceTables {
  const commands = flattened(tree);
  return {
    entered: commands.flatMap(({ place, children }) =>
      children.flatMap((child) => child.names.map((name) => [`${place}|${name}`, child.place] as const)),
    ),
    valued: commands.flatMap(({ place, options }) =>
      options
        .filter(({ takesValue }) => takesValue)
        .flatMap(({ flags, choices }) => flags.map((flag) => [`${place}|${flag}`, choices] as const)),
    ),
    words: commands.map((command) => [command.place, wordsOf(command)] as const),
  };
}

/** Lines of a `case` statement of bash or zsh, indented. */
export function caseLines(cases: readonly ShellCase[], indent: string): string {
  return cases.map(({ patterns, action }) => `${indent}${patterns.join(" | ")}) ${action} ;;`).join("\n");
}

/** A word in single quotes, which every shell here takes literally. Names of ours hold no quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "")}'`;
}

function wordsOf({ children, choices, options }: TreeCommand): string[] {
  const names = children.flatMap((child) => child.names.slice(0, 1));
  return [...names, ...choices, ...options.flatMap(({ flags }: TreeOption) => flags)];
}
