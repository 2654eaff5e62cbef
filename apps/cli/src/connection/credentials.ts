import { CodedError, ErrorCode } from "@millrace/errors";
import type { ClientVariable } from "@millrace/protocol";
import { MissingCredentialsError, UsageError } from "../failures/usage-error.ts";
import { readOneLine } from "../formats/lines.ts";
import { TokenFile } from "../stored-tokens/token-file.ts";
import type { World } from "../world.ts";
import type { CredentialOptions } from "./credential-options.ts";
import type { ServerTarget } from "./server-target.ts";

/** A user name and its password. */
export interface PasswordCredentials {
  readonly username: string;
  readonly password: string;
}

/** A personal access token. */
export interface TokenCredentials {
  readonly token: string;
  /** True for the token of `millrace login`. */
  readonly isStoredLogin?: true;
}

/** Who logs in. */
export type Credentials = PasswordCredentials | TokenCredentials;

/** Which comes first: the stored login, as for most commands, or what was typed or exported: for `login`. */
export type CredentialOrder = "stored first" | "typed first";

const OWN_PAIR = ["MILLRACE_USERNAME", "MILLRACE_PASSWORD"] as const satisfies ClientVariable[];
/** Pairs of variables that hold credentials; both of a pair are needed, the first complete pair wins. */
const ENVIRONMENT_PAIRS = [OWN_PAIR, ["IGGY_USERNAME", "IGGY_PASSWORD"]] as const;

/**
 * The credentials to log in with: the stored login, `-n`, `-t`, `-u` and `-p` (typed, or of the context),
 * their long forms, a connection string of the environment, its pairs.
 *
 * A user name without a password is completed by a prompt on a terminal, else by one line of standard input.
 * Nothing is assumed, not even for a server on this machine.
 * @throws UsageError for credentials of two kinds, a password without a user name, and when no password was
 *         typed
 * @throws CodedError InvalidPersonalAccessToken for a name of a token that is not stored
 * @throws MissingCredentialsError when there is no source of credentials
 */
export async function findCredentials(
  { address, typed, exported }: Pick<ServerTarget, "address" | "typed" | "exported">,
  world: World,
  order: CredentialOrder = "stored first",
): Promise<Credentials> {
  checkOneKind(typed);
  const stored = storedLogin(address, world);
  if (order === "stored first" && stored !== undefined) return stored;
  const pairs = ENVIRONMENT_PAIRS.map((names) => pairOf(names, world.environment));
  const found =
    (await typedCredentials(typed, address, world)) ?? exported ?? pairs.find(isComplete) ?? stored;
  if (found === undefined) throw new MissingCredentialsError();
  return found;
}

function checkOneKind({ username, token, tokenName }: CredentialOptions): void {
  const kinds = [username, token, tokenName].filter((one) => one !== undefined);
  if (kinds.length > 1) throw new UsageError("Give one of -u, -t and -n, not two of them.");
}

function storedLogin(address: string, world: World): TokenCredentials | undefined {
  const { login } = new TokenFile(world.home).read(address);
  return login === undefined ? undefined : { token: login.token, isStoredLogin: true };
}

async function typedCredentials(
  options: CredentialOptions,
  address: string,
  world: World,
): Promise<Credentials | undefined> {
  const username = options.username ?? options.credentialsUsername;
  const password = options.password ?? options.credentialsPassword;
  if (options.tokenName !== undefined) return { token: namedToken(options.tokenName, address, world) };
  if (options.token !== undefined) return { token: options.token };
  if (username !== undefined) return { username, password: password ?? (await askPassword(username, world)) };
  if (password !== undefined) throw new UsageError("A password needs a user name: add -u NAME.");
  return undefined;
}

function namedToken(name: string, server: string, world: World): string {
  const { tokens } = new TokenFile(world.home).read(server);
  const token = Object.hasOwn(tokens, name) ? tokens[name] : undefined;
  if (token !== undefined) return token;
  throw new CodedError(
    ErrorCode.InvalidPersonalAccessToken,
    `No token "${name}" is stored for ${server}; store one with: millrace pat create ${name} --store-token`,
  );
}

type MaybePair = { readonly [Name in keyof PasswordCredentials]: string | undefined };

function pairOf(names: readonly [string, string], environment: World["environment"]): MaybePair {
  return { username: environment[names[0]], password: environment[names[1]] };
}

function isComplete(pair: MaybePair): pair is PasswordCredentials {
  return pair.username !== undefined && pair.password !== undefined;
}

async function askPassword(username: string, world: World): Promise<string> {
  const typed = world.stdin.isTTY
    ? await world.askSecret(`Password of ${username}`)
    : await readOneLine(world.stdin);
  if (typed !== undefined && typed !== "") return typed;
  throw new UsageError("No password was given: add -p PASSWORD, or type it when asked.");
}
