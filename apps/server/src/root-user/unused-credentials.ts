import type { Log, Passwords } from "@millrace/platform";
import { ROOT_PASSWORD, ROOT_USERNAME } from "../config/defaults.ts";
import { prefixedVariable } from "../config/environment.ts";
import type { RootUserOptions } from "./root-credentials.ts";

/** The root user that is there, as it is stored. */
export interface StoredRootUser {
  readonly name: string;
  readonly passwordHash: string;
}

/**
 * Says that the root user of an earlier start stays as it is: whoever asked for another one and cannot log in
 * with it should read why. The default credentials are asked for at each `npm start`, so they are tried.
 * Never rejects.
 */
export async function tellUnusedCredentials(
  options: RootUserOptions,
  stored: StoredRootUser | undefined,
  { log, passwords }: { readonly log: Log; readonly passwords: Passwords },
): Promise<void> {
  if (prefixedVariable(options.environment, "ROOT_PASSWORD") !== undefined) {
    log.warn("The root user is from an earlier start; the credentials in the environment are not used.");
    return;
  }
  if (!options.withDefaultRootCredentials || stored === undefined) return;
  const username = prefixedVariable(options.environment, "ROOT_USERNAME") ?? ROOT_USERNAME;
  const isRight = await passwords.verify(ROOT_PASSWORD, stored.passwordHash).catch(() => false);
  if (isRight && stored.name === username) return;
  log.warn(`The root user is from an earlier start; ${username}/${ROOT_PASSWORD} are not its credentials.`);
}
