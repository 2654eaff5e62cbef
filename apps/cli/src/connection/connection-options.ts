import { CLIENT_VARIABLES, type ClientVariable } from "@millrace/protocol";
import { type Command, Option } from "commander";
import { CONNECTION_OPTIONS, type ConnectionOptionRow } from "./connection-options.table.ts";
import type { ConnectionTexts } from "./connection-texts.ts";

/**
 * Adds the connection options, which come before the command. They have no default here: a context or the
 * environment may set what the command line leaves out.
 */
export function addConnectionOptions(command: Command): void {
  for (const row of CONNECTION_OPTIONS) command.addOption(optionOf(row));
}

function optionOf(row: ConnectionOptionRow): Option {
  const standard = row.standard === undefined ? "" : ` (default: ${row.standard})`;
  const option = new Option(`--${row.flag} ${row.argument}`, `${row.summary}${standard}`);
  option.argParser((text: string) => {
    row.check(text);
    return text;
  });
  if (row.choices !== undefined) option.choices(row.choices);
  if (row.argument.startsWith("[")) option.preset("true");
  return row.isHidden === true ? option.hideHelp() : option;
}

/** Name of an option in commander: `tcp-server-address` is `tcpServerAddress`. */
export function attributeOf({ flag }: ConnectionOptionRow): string {
  return flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Name of an option in a context: `tcp-server-address` is `tcp_server_address`. */
export function contextKeyOf({ flag }: ConnectionOptionRow): string {
  return flag.replaceAll("-", "_");
}

/** Environment variable of an option, for the few that have one: the option in capitals after `MILLRACE_`. */
export function variableOf(row: ConnectionOptionRow): ClientVariable | undefined {
  const name = `MILLRACE_${contextKeyOf(row).toUpperCase()}`;
  return CLIENT_VARIABLES.find((variable) => variable === name);
}

/** The connection options among all that were typed. */
export function typedTexts(options: Readonly<Record<string, unknown>>): ConnectionTexts {
  const texts = CONNECTION_OPTIONS.map((row) => [attributeOf(row), options[attributeOf(row)]] as const);
  return Object.fromEntries(texts.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
}
