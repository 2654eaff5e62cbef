import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError, ErrorCode } from "@millrace/errors";
import { parse, stringify, TomlError, type TomlTable } from "smol-toml";
import { readPrivateFile, unusableFile, writePrivateFile } from "../private-files/private-file.ts";

/** The context that is there without a file: nothing is set in it. */
const DEFAULT_CONTEXT = "default";

/** A named set of connection options and credentials; values are texts, keys those of `contexts.toml`. */
export interface Context {
  readonly name: string;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Contexts in the home of millrace: `contexts.toml`, one table each, and `.active_context`, a name.
 *
 * Both are readable by their owner only, for contexts hold passwords. Keys that this release does not know
 * stay as they are. The files are those of the reference's command.
 */
export class ContextFile {
  readonly path: string;
  readonly #activePath: string;

  /** @param home  `MILLRACE_HOME`, else `IGGY_HOME`, else `~/.millrace` */
  constructor(home: string) {
    this.path = join(home, "contexts.toml");
    this.#activePath = join(home, ".active_context");
  }

  /** Every context, `default` first, the others by name. */
  list(): readonly Context[] {
    const tables = this.#tables();
    const names = Object.keys(tables).filter((name) => name !== DEFAULT_CONTEXT);
    return [DEFAULT_CONTEXT, ...names.toSorted()].map((name) => contextOf(name, tables));
  }

  /** The context of this name. @throws CodedError ResourceNotFound */
  get(name: string): Context {
    const tables = this.#tables();
    if (name !== DEFAULT_CONTEXT && !Object.hasOwn(tables, name)) throw missing(name);
    return contextOf(name, tables);
  }

  /** Name of the active context, whether it exists or not. */
  activeName(): string {
    try {
      return readFileSync(this.#activePath, "utf8").trim() || DEFAULT_CONTEXT;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return DEFAULT_CONTEXT;
      throw error;
    }
  }

  /** The active context. @throws CodedError ResourceNotFound when it is not in the file */
  active(): Context {
    return this.get(this.activeName());
  }

  /** Adds a context. @throws CodedError InvalidConfiguration when there is one of that name */
  create({ name, values }: Context): void {
    const tables = this.#tables();
    if (name === DEFAULT_CONTEXT)
      throw ofDefault("The context default is there already and holds nothing; choose another name.");
    if (Object.hasOwn(tables, name)) throw exists(name);
    this.#write({ ...tables, [name]: values });
  }

  /** Makes a context the active one. @throws CodedError ResourceNotFound */
  use(name: string): void {
    this.get(name);
    writePrivateFile(this.#activePath, name);
  }

  /** Removes a context; `default` is active when it was. @throws CodedError ResourceNotFound */
  delete(name: string): void {
    if (name === DEFAULT_CONTEXT)
      throw ofDefault("The context default cannot be deleted: it is always there and holds nothing.");
    this.get(name);
    const { [name]: _, ...others } = this.#tables();
    this.#write(others);
    if (this.activeName() === name) this.use(DEFAULT_CONTEXT);
  }

  #tables(): TomlTable {
    const text = readPrivateFile(this.path);
    if (text === undefined) return {};
    try {
      const tables = parse(text);
      if (Object.values(tables).every(isTable)) return tables;
    } catch (error) {
      if (!(error instanceof TomlError)) throw error;
    }
    throw unusableFile(`${this.path} is not a file of contexts: it must be TOML with one table for each.`);
  }

  #write(tables: TomlTable): void {
    writePrivateFile(this.path, `${stringify(tables)}\n`);
  }
}

function contextOf(name: string, tables: TomlTable): Context {
  const table = Object.hasOwn(tables, name) ? (tables[name] as TomlTable) : {};
  const plain = Object.entries(table).filter(([, value]) => typeof value !== "object");
  return { name, values: Object.fromEntries(plain.map(([key, value]) => [key, String(value)])) };
}

function isTable(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function ofDefault(message: string): CodedError {
  const next = "List the contexts with: millrace context list";
  return new CodedError(ErrorCode.InvalidConfiguration, message, { details: { next } });
}

function exists(name: string): CodedError {
  const next = `Choose another name, or delete it first with: millrace context delete ${name}`;
  return new CodedError(ErrorCode.InvalidConfiguration, `There is a context "${name}" already.`, {
    details: { next },
  });
}

function missing(name: string): CodedError {
  const next = "List the contexts with: millrace context list. Choose one with: millrace context use NAME";
  return new CodedError(ErrorCode.ResourceNotFound, `There is no context "${name}".`, { details: { next } });
}
