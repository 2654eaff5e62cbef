import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { CodedError, ErrorCode } from "@millrace/errors";
import { parse as parseToml, TomlError } from "smol-toml";
import { checkCluster } from "./check-cluster.ts";
import { checkConfig } from "./check-config.ts";
import { type Environment, environmentOverrides, prefixedVariable } from "./environment.ts";
import { refuseRemovedKeys } from "./removed-keys.ts";
import { rustLogLevel } from "./rust-log.ts";
import { type Config, configSchema } from "./schema.ts";
import { refuseUnknownKeys } from "./unknown-keys.ts";
import { givenKeys, warningsWithoutEffect } from "./without-effect.ts";

/** What the command line says about the configuration. */
export interface ConfigSources {
  readonly environment: Environment;
  /** A file named on the command line; stronger than `MILLRACE_CONFIG_PATH`. */
  readonly configPath?: string | undefined;
  /** Where the file of the reference's place is looked for; the process's own unless told. */
  readonly workingDirectory?: string | undefined;
  /** A data path named on the command line; stronger than everything else. */
  readonly dataPath?: string | undefined;
  /** Which node of the roster this is, named on the command line. */
  readonly replica?: number | undefined;
}

/** The configuration and what deserves a warning in the log. */
export interface LoadedConfig {
  readonly config: Config;
  readonly configPath: string | undefined;
  /** This node's replica id; 0 for a server that stands alone. */
  readonly replica: number;
  readonly warnings: readonly string[];
}

type Tree = Record<string, unknown>;

/** Where the reference looks for its file, below the working directory. */
const USUAL_PATH = "core/server/config.toml";

/**
 * Reads the configuration: defaults, then the file, then the environment, then the command line; later wins.
 *
 * @throws CodedError InvalidConfiguration or FeatureUnavailable with a sentence that names key and remedy
 */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const { environment } = sources;
  const { file, configPath } = await readFirstFile(sources);
  refuseRemovedKeys(file, environment);
  const ignored = refuseUnknownKeys(file, environment);
  const tree = structuredClone(file);
  for (const { path, value } of environmentOverrides(environment)) setAt(tree, path, value);
  const level = levelOfRustLog(environment);
  if (level.value !== undefined) setAt(tree, ["logging", "level"], level.value);
  if (sources.dataPath !== undefined) tree["path"] = sources.dataPath;
  const config = parseTree(tree);
  checkConfig(config);
  const replica = checkCluster(config, sources.replica);
  const warnings = [...ignored, ...level.warnings, ...warningsWithoutEffect(givenKeys(tree))];
  return { config, configPath, replica, warnings };
}

/** The file that is named, else the one at the reference's place, else none. */
async function readFirstFile(
  sources: ConfigSources,
): Promise<{ file: Tree; configPath: string | undefined }> {
  const named = sources.configPath ?? prefixedVariable(sources.environment, "CONFIG_PATH");
  if (named !== undefined) return { file: await readConfigFile(named), configPath: named };
  const usual = join(sources.workingDirectory ?? process.cwd(), USUAL_PATH);
  const isThere = await access(usual).then(
    () => true,
    () => false,
  );
  return isThere
    ? { file: await readConfigFile(usual), configPath: usual }
    : { file: {}, configPath: undefined };
}

/** `RUST_LOG` is stronger than the file and `IGGY_LOGGING_LEVEL`; our own variable is stronger still. */
function levelOfRustLog(environment: Environment): { value?: string | undefined; warnings: string[] } {
  const { RUST_LOG: given, MILLRACE_LOGGING_LEVEL: own } = environment;
  if (given === undefined || given.trim() === "" || own !== undefined) return { warnings: [] };
  const value = rustLogLevel(given);
  const warnings = [
    `RUST_LOG names no level of the whole server (trace, debug, info, warn, error, off): ignored.`,
  ];
  return value === undefined ? { warnings } : { value, warnings: [] };
}

async function readConfigFile(path: string): Promise<Tree> {
  try {
    return parseToml(await readFile(path, "utf8")) as Tree;
  } catch (error) {
    const reason = error instanceof TomlError ? error.message.trim() : String((error as Error).message);
    throw new CodedError(
      ErrorCode.InvalidConfiguration,
      `The configuration file ${path} cannot be read: ${reason}`,
      {
        details: { path },
        cause: error,
      },
    );
  }
}

/** Sets a value below tables that may not be there yet. */
function setAt(tree: Tree, path: readonly string[], value: unknown): void {
  let inner = tree;
  for (const key of path.slice(0, -1)) {
    const next = inner[key];
    if (typeof next === "object" && next !== null) inner = next as Tree;
    else inner = inner[key] = {} as Tree;
  }
  const last = path[path.length - 1];
  if (last !== undefined) inner[last] = value;
}

function parseTree(tree: Tree): Config {
  const parsed = configSchema.safeParse(tree);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = issue?.path.join(".") ?? "";
  throw new CodedError(
    ErrorCode.InvalidConfiguration,
    `The setting ${key} is not usable: ${issue?.message}`,
    { details: { key } },
  );
}
