import { readFile } from "node:fs/promises";
import { CodedError, ErrorCode } from "@millrace/errors";
import { parse as parseToml, TomlError } from "smol-toml";
import { checkConfig } from "./check-config.ts";
import { type Environment, environmentOverrides, prefixedVariable } from "./environment.ts";
import { refuseRemovedKeys } from "./removed-keys.ts";
import { type Config, configSchema } from "./schema.ts";
import { unknownKeys } from "./unknown-keys.ts";
import { givenKeys, warningsWithoutEffect } from "./without-effect.ts";

/** What the command line says about the configuration. */
export interface ConfigSources {
  readonly environment: Environment;
  /** A file named on the command line; stronger than `MILLRACE_CONFIG_PATH`. */
  readonly configPath?: string | undefined;
  /** A data path named on the command line; stronger than everything else. */
  readonly dataPath?: string | undefined;
}

/** The configuration and what deserves a warning in the log. */
export interface LoadedConfig {
  readonly config: Config;
  readonly configPath: string | undefined;
  readonly warnings: readonly string[];
}

type Tree = Record<string, unknown>;

/**
 * Reads the configuration: defaults, then the file, then the environment, then the command line; later wins.
 *
 * @throws CodedError InvalidConfiguration or FeatureUnavailable with a sentence that names key and remedy
 */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const configPath = sources.configPath ?? prefixedVariable(sources.environment, "CONFIG_PATH");
  const file = configPath === undefined ? {} : await readConfigFile(configPath);
  refuseRemovedKeys(file, sources.environment);
  const tree = structuredClone(file);
  for (const { path, value } of environmentOverrides(sources.environment)) setAt(tree, path, value);
  if (sources.dataPath !== undefined) tree["path"] = sources.dataPath;
  const config = parseTree(tree);
  checkConfig(config);
  const unknown = unknownKeys(configSchema, file).map((key) => `The setting ${key} is unknown and ignored.`);
  return { config, configPath, warnings: [...unknown, ...warningsWithoutEffect(givenKeys(tree))] };
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
