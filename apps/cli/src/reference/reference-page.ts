import type { Argument, Command, Option } from "commander";
import { CONNECTION_OPTIONS } from "../connection/connection-options.table.ts";
import { variableOf } from "../connection/connection-options.ts";
import { DIFFERENCES } from "./differences.table.ts";

const START = `# The command line

Made from the command tree of \`millrace\`; a test holds this page against it. The
[README of the command](../../apps/cli/README.md) explains values, output, credentials and files.

Global options stand before the command: \`millrace -u ann --transport ws stream list\`. Every command has
\`--output table|list|json\`, before or behind it, and \`--help\`.
`;

const EXIT_CODES = `## Exit codes

| Code | Meaning |
|---|---|
| 0 | done; also a tail that was ended by Ctrl-C, and a reader of stdout that went away |
| 1 | the server refused, or the operation failed |
| 2 | wrong command line; nothing was sent |
| 3 | cannot connect, or the connection was lost |
| 4 | credentials missing or wrong, or no permission |
| 5 | the stream, topic, partition, client, offset or context does not exist |
| 6 | bytes on the server's disk are not as they were written |
`;

/** The page that describes every command and option of a program, in Markdown. */
export function referencePage(program: Command): string {
  const globals = ["## Global options", optionTable(program.options.filter(({ hidden }) => !hidden))];
  const commands = program.commands
    .filter((command) => command.name() !== "help")
    .flatMap((command) => sections(command, ""));
  return [
    START,
    ...globals,
    hiddenOptions(program),
    variables(),
    "## Commands",
    ...commands,
    EXIT_CODES,
    differences(),
  ]
    .join("\n\n")
    .replaceAll(/\n{3,}/g, "\n\n");
}

function sections(command: Command, group: string): string[] {
  const name = `${group}${command.name()}`;
  if (command.commands.length === 0) return [leafSection(command, name)];
  const aliases = command
    .aliases()
    .map((alias) => `\`${alias}\``)
    .join(", ");
  const title = `### ${name}\n\n${sentenceOf(command.description())} Short: ${aliases || "none"}.`;
  return [title, ...command.commands.flatMap((child) => sections(child, `${name} `))];
}

function leafSection(command: Command, name: string): string {
  const words = command.registeredArguments.map(argumentText).join(" ");
  const aliases =
    command.aliases().length === 0
      ? ""
      : ` Short: ${command
          .aliases()
          .map((alias) => `\`${alias}\``)
          .join(", ")}.`;
  const usage = `\`millrace ${name}${words === "" ? "" : ` ${words}`}\``;
  const own = command.options.filter(
    (option) => !option.hidden && option.long !== "--output" && option.long !== "--help",
  );
  const isContext = name === "context create";
  const shown = isContext ? [] : own;
  const note = isContext ? "Takes the connection and credential options of the global ones." : "";
  return [
    `#### ${name}`,
    `${usage}\n\n${sentenceOf(command.description())}${aliases}`,
    note,
    command.registeredArguments.length === 0 ? "" : argumentTable(command.registeredArguments),
    shown.length === 0 ? "" : optionTable(shown),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function argumentText(argument: Argument): string {
  const name = `${argument.name().toUpperCase()}${argument.variadic ? "..." : ""}`;
  return argument.required ? name : `[${name}]`;
}

function argumentTable(registered: readonly Argument[]): string {
  const rows = registered.map((argument) => [
    `\`${argumentText(argument)}\``,
    withChoices(argument.description, argument.argChoices),
  ]);
  return table(["Argument", "Meaning"], rows);
}

function optionTable(options: readonly Option[]): string {
  const rows = options.map((option) => [`\`${option.flags}\``, withDefault(option)]);
  return table(["Option", "Meaning"], rows);
}

function withDefault(option: Option): string {
  const text = withChoices(option.description, option.argChoices);
  if (option.defaultValue === undefined) return text;
  return `${text} (default: ${option.defaultValueDescription ?? String(option.defaultValue)})`;
}

function withChoices(text: string, choices: readonly string[] | undefined): string {
  return choices === undefined ? text : `${text}: ${choices.join(", ")}`;
}

function hiddenOptions(program: Command): string {
  const names = program.options.filter(({ hidden }) => hidden).map(({ long }) => `\`${long}\``);
  return `Accepted for compatible scripts, and not in the help: ${names.join(", ")}.`;
}

function variables(): string {
  const names = CONNECTION_OPTIONS.map((row) => [variableOf(row), row.flag] as const);
  const rows = names
    .filter(([name]) => name !== undefined)
    .map(([name, flag]) => [`\`${name}\``, `\`--${flag}\``]);
  const more = [
    ["`MILLRACE_USERNAME` and `MILLRACE_PASSWORD`", "`-u` and `-p`, when both are set"],
    ["`MILLRACE_HOME`", "folder of contexts and tokens; else `IGGY_HOME`, else `~/.millrace`"],
    ["`NO_COLOR`", "no colours"],
  ];
  const order =
    "For each option the command line comes first, then the active context, then the environment.";
  return `## Environment\n\n${table(["Variable", "Stands for"], [...rows, ...more] as string[][])}\n\n${order}`;
}

function differences(): string {
  return `## Differences from the reference's command\n\n${table(
    ["There", "Here"],
    DIFFERENCES.map((row) => [...row]),
  )}\n`;
}

function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(titles), `|${titles.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

function sentenceOf(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
