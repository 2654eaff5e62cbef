import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { CodedError, ErrorCode } from "@millrace/errors";
import { type Environment, prefixedVariable } from "./environment.ts";

/** Name of the file that is looked for in the working directory. */
const FILE_NAME = ".env";
/** What is taken from it: settings, root credentials, the log level. The rest is for other programs. */
const OUR_NAMES = /^(?:(?:MILLRACE|IGGY)_\w+|RUST_LOG)$/;

/** The environment with what a file adds to it. */
export interface FullEnvironment {
  readonly environment: Environment;
  /** The file that was read. */
  readonly path: string | undefined;
}

/**
 * Adds the variables of a `.env` file: the one that `MILLRACE_ENV_PATH` or `IGGY_ENV_PATH` names, else `.env`
 * in the working directory if there is one. A variable that is set already keeps its value.
 *
 * @throws CodedError InvalidConfiguration when a named file cannot be read
 * @see server-semantics section 15
 */
export async function withEnvironmentFile(
  environment: Environment,
  workingDirectory: string,
): Promise<FullEnvironment> {
  const named = prefixedVariable(environment, "ENV_PATH");
  const path = named ?? join(workingDirectory, FILE_NAME);
  const text = await readFile(path, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (named === undefined && cause.code === "ENOENT") return undefined;
    const reason = `The file ${path} with environment variables cannot be read: ${cause.message}`;
    throw new CodedError(ErrorCode.InvalidConfiguration, reason, { details: { path }, cause });
  });
  if (text === undefined) return { environment, path: undefined };
  const added = Object.entries(parseEnv(text)).filter(([name]) => OUR_NAMES.test(name));
  return { environment: { ...Object.fromEntries(added), ...definedIn(environment) }, path };
}

function definedIn(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined));
}
