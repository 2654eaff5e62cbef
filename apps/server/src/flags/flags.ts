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
  /** Which node of the cluster's roster this is. */
  readonly replica: number | undefined;
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
    replica: replicaId(values["replica-id"]),
  };
}

function replicaId(text: string | undefined): number | undefined {
  if (text === undefined || /^\d{1,3}$/.test(text)) return text === undefined ? undefined : Number(text);
  const message = `--replica-id is "${text}"; it is the replica_id of a node of the roster, such as 0.`;
  throw new CodedError(ErrorCode.InvalidArgument, message);
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
        "replica-id": { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new CodedError(ErrorCode.InvalidArgument, `${(error as Error).message}. Try --help.`, {
      cause: error,
    });
  }
}
