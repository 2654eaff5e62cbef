import { type Command, Option } from "commander";

/** Who logs in, as typed before the command or as a context holds it. */
export interface CredentialOptions {
  readonly username?: string;
  readonly password?: string;
  readonly token?: string;
  readonly tokenName?: string;
  readonly credentialsUsername?: string;
  readonly credentialsPassword?: string;
}

/** Names of the credential options in commander. */
export const CREDENTIAL_NAMES: readonly (keyof CredentialOptions)[] = [
  "username",
  "password",
  "token",
  "tokenName",
  "credentialsUsername",
  "credentialsPassword",
];

/** Adds the options that say who logs in. */
export function addCredentialOptions(command: Command): void {
  command
    .option("-u, --username <name>", "who logs in")
    .option("-p, --password <password>", "asked for when -u is given alone")
    .option("-t, --token <token>", "a personal access token, in place of -u")
    .option("-n, --token-name <name>", "a token that `pat create --store-token` stored, in place of -u");
}

/** Adds the older names that compatible scripts may use. */
export function addOlderCredentialOptions(command: Command): void {
  command
    .addOption(new Option("--credentials-username <name>", "older form of -u").hideHelp())
    .addOption(new Option("--credentials-password <password>", "older form of -p").hideHelp());
}

/** True when credentials stand on the command line. */
export function hasTypedCredentials(options: CredentialOptions): boolean {
  const { username, credentialsUsername, token, tokenName } = options;
  return [username, credentialsUsername, token, tokenName].some((one) => one !== undefined);
}
