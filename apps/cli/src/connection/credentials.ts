import { MissingCredentialsError, UsageError } from "../failures/usage-error.ts";
import { readOneLine } from "../formats/lines.ts";
import type { World } from "../world.ts";

/** A user name and its password. */
export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** The credential options as typed before the command. */
export interface CredentialOptions {
  readonly username?: string;
  readonly password?: string;
  readonly credentialsUsername?: string;
  readonly credentialsPassword?: string;
}

/** Pairs of variables that hold credentials; both of a pair are needed, the first complete pair wins. */
const ENVIRONMENT_PAIRS = [
  ["MILLRACE_USERNAME", "MILLRACE_PASSWORD"],
  ["IGGY_USERNAME", "IGGY_PASSWORD"],
] as const;

/**
 * The credentials to log in with: `-u` and `-p`, then their long forms, then the environment.
 *
 * A user name without a password is completed by a prompt on a terminal, else by one line of standard input.
 * Nothing is assumed, not even for a server on this machine.
 * @throws UsageError for a password without a user name, and when no password was typed
 * @throws MissingCredentialsError when there is no source of credentials
 */
export async function findCredentials(options: CredentialOptions, world: World): Promise<Credentials> {
  const username = options.username ?? options.credentialsUsername;
  const password = options.password ?? options.credentialsPassword;
  if (username !== undefined) return { username, password: password ?? (await askPassword(username, world)) };
  if (password !== undefined) throw new UsageError("A password needs a user name: add -u NAME.");
  const pair = ENVIRONMENT_PAIRS.map((names) => pairOf(names, world.environment)).find(isComplete);
  if (pair === undefined) throw new MissingCredentialsError();
  return pair;
}

type MaybePair = { readonly [Name in keyof Credentials]: string | undefined };

function pairOf(names: readonly [string, string], environment: World["environment"]): MaybePair {
  return { username: environment[names[0]], password: environment[names[1]] };
}

function isComplete(pair: MaybePair): pair is Credentials {
  return pair.username !== undefined && pair.password !== undefined;
}

async function askPassword(username: string, world: World): Promise<string> {
  const typed = world.stdin.isTTY
    ? await world.askSecret(`Password of ${username}`)
    : await readOneLine(world.stdin);
  if (typed !== undefined && typed !== "") return typed;
  throw new UsageError("No password was given: add -p PASSWORD, or type it when asked.");
}
