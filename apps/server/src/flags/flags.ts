import { parseArgs } from "node:util";
import { CodedError, ErrorCode } from "@millrace/errors";

/** What the command line asks for. */
export interface Flags {
  readonly help: boolean;
  readonly version: boolean;
  /** Delete the data first. */
  readonly fresh: boolean;
  readonly withDefaultRootCredentials: boolean;
  readonly dataPath: string | undefined;
  readonly configPath: string | undefined;
}

/**
 * Reads the command line.
 *
 * @param args  arguments after the program's name
 * @throws CodedError InvalidArgument with a sentence that names the wrong one
 */
export function parseFlags(args: readonly string[]): Flags {
  const values = parseValues(args);
  return {
    help: values.help ?? false,
    version: values.version ?? false,
    fresh: values.fresh ?? false,
    withDefaultRootCredentials: values["with-default-root-credentials"] ?? false,
    dataPath: values.data ?? values.path,
    configPath: values.config,
  };
}

function parseValues(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: false,
      options: {
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "V" },
        fresh: { type: "boolean", short: "f" },
        "with-default-root-credentials": { type: "boolean" },
        data: { type: "string" },
        path: { type: "string" },
        config: { type: "string", short: "c" },
      },
    }).values;
  } catch (error) {
    throw new CodedError(ErrorCode.InvalidArgument, `${(error as Error).message} Try --help.`, {
      cause: error,
    });
  }
}
