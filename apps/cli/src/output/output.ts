import pc from "picocolors";
import type { World } from "../world.ts";
import { writeJson } from "./json-writer.ts";
import { type OutputMode, render } from "./render.ts";
import { type Field, objectOf, type Result, textsOf } from "./result.ts";

/** What a command prints through: one mode for everything it says, nothing at all when quiet. */
export interface Output {
  readonly mode: OutputMode;
  /** True when a person looks at stdout. */
  readonly isTerminal: boolean;
  /** Prints a whole answer on stdout. */
  show(result: Result): void;
  /** Prints a line that accompanies the answer (a ping, a summary); left out of JSON and TOML. */
  line(text: string): void;
  /**
   * Prints items as they come: JSON and list one a line, table in padded columns under one line of titles.
   */
  rowStream<T>(fields: readonly Field<T>[], widths: readonly number[]): (item: T) => void;
  /** Prints a remark on stderr, which never mixes with the answer. */
  remark(text: string): void;
  /** Resolves once the reader of stdout has room again, so that a slow one bounds our memory. */
  drained(): Promise<void>;
}

/** What decides how a command prints. */
export interface OutputOptions {
  readonly mode: OutputMode;
  readonly quiet: boolean;
}

/** The output of one command. Colours appear only on a terminal that wants them. */
export function createOutput(world: World, options: OutputOptions): Output {
  const { mode, quiet } = options;
  const colors = pc.createColors(world.stdout.isTTY === true && world.environment["NO_COLOR"] === undefined);
  const write = (text: string) => {
    if (!quiet) world.stdout.write(text);
  };
  return {
    mode,
    isTerminal: world.stdout.isTTY === true,
    show: (result) => write(render(result, mode, colors)),
    line: (text) => {
      if (isForPeople(mode)) write(`${text}\n`);
    },
    rowStream: (fields, widths) => rowWriter(write, mode, fields, widths),
    remark: (text) => {
      world.stderr.write(`${text}\n`);
    },
    drained: () => waitForRoom(world.stdout),
  };
}

/** True for the modes that people read, false for those that programs parse as one document. */
function isForPeople(mode: OutputMode): boolean {
  return mode === "table" || mode === "list";
}

function rowWriter<T>(
  write: (text: string) => void,
  mode: OutputMode,
  fields: readonly Field<T>[],
  widths: readonly number[],
): (item: T) => void {
  if (!isForPeople(mode)) return (item) => write(`${writeJson(objectOf(fields, item), "line")}\n`);
  if (mode === "list") return (item) => write(`${textsOf(fields, item).join("|")}\n`);
  const pad = (texts: readonly string[]) =>
    texts
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd();
  let titled = false;
  return (item) => {
    if (!titled) write(`${pad(fields.map((field) => field.title))}\n`);
    titled = true;
    write(`${pad(textsOf(fields, item))}\n`);
  };
}

function waitForRoom(
  stream: NodeJS.WritableStream & { readonly writableNeedDrain?: boolean },
): Promise<void> {
  if (stream.writableNeedDrain !== true) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stream.off("drain", done);
      stream.off("close", done);
      resolve();
    };
    stream.on("drain", done);
    stream.on("close", done);
  });
}
