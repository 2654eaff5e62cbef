import { CodedError, ErrorCode } from "@millrace/errors";
import { MissingCredentialsError, UsageError } from "../failures/usage-error.ts";
import { readOneLine } from "../formats/lines.ts";
import { TokenFile } from "../stored-tokens/token-file.ts";
import type { World } from "../world.ts";
import { type Address, addressText } from "./settings.ts";

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

/** The credential options as typed before the command. */
export interface CredentialOptions {
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
  readonly tokenName?: string;
  readonly credentialsUsername?: string;
  readonly credentialsPassword?: string;
}

/** Which comes first: the stored login, as for most commands, or what was typed or exported: for `login`. */
export type CredentialOrder = "stored first" | "typed first";

/** Pairs of variables that hold credentials; both of a pair are needed, the first complete pair wins. */
const ENVIRONMENT_PAIRS = [
  ["MILLRACE_USERNAME", "MILLRACE_PASSWORD"],
  ["IGGY_USERNAME", "IGGY_PASSWORD"],
] as const;

/**
 * The credentials to log in with: the stored login, `-n`, `-t`, `-u` and `-p`, their long forms, the
 * environment.
 *
 * A user name without a password is completed by a prompt on a terminal, else by one line of standard input.
 * Nothing is assumed, not even for a server on this machine.
 * @throws UsageError for credentials of two kinds, a password without a user name, and when no password was
 *         typed
 * @throws CodedError InvalidPersonalAccessToken for a name of a token that is not stored
 * @throws MissingCredentialsError when there is no source of credentials
 */
export async function findCredentials(
  options: CredentialOptions & { readonly tcpServerAddress: Address },
  world: World,
  order: CredentialOrder = "stored first",
): Promise<Credentials> {
  checkOneKind(options);
  const stored = storedLogin(options.tcpServerAddress, world);
  if (order === "stored first" && stored !== undefined) return stored;
  const pairs = ENVIRONMENT_PAIRS.map((names) => pairOf(names, world.environment));
  const found = (await typedCredentials(options, world)) ?? pairs.find(isComplete) ?? stored;
  if (found === undefined) throw new MissingCredentialsError();
  return found;
}

/** True when credentials stand on the command line. */
export function hasTypedCredentials(options: CredentialOptions): boolean {
  const { username, credentialsUsername, token, tokenName } = options;
  return [username, credentialsUsername, token, tokenName].some((one) => one !== undefined);
}

function checkOneKind({ username, token, tokenName }: CredentialOptions): void {
  const kinds = [username, token, tokenName].filter((one) => one !== undefined);
  if (kinds.length > 1) throw new UsageError("Give one of -u, -t and -n, not two of them.");
}

function storedLogin(address: Address, world: World): TokenCredentials | undefined {
  const { login } = new TokenFile(world.home).read(addressText(address));
  return login === undefined ? undefined : { token: login.token, isStoredLogin: true };
}

async function typedCredentials(
  options: CredentialOptions & { readonly tcpServerAddress: Address },
  world: World,
): Promise<Credentials | undefined> {
  const username = options.username ?? options.credentialsUsername;
  const password = options.password ?? options.credentialsPassword;
  if (options.tokenName !== undefined) return { token: namedToken(options.tokenName, options, world) };
  if (options.token !== undefined) return { token: options.token };
  if (username !== undefined) return { username, password: password ?? (await askPassword(username, world)) };
  if (password !== undefined) throw new UsageError("A password needs a user name: add -u NAME.");
  return undefined;
}

function namedToken(
  name: string,
  { tcpServerAddress }: { readonly tcpServerAddress: Address },
  world: World,
): string {
  const server = addressText(tcpServerAddress);
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
