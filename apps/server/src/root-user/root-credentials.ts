import { CodedError, ErrorCode } from "@millrace/errors";
import type { Random } from "@millrace/platform";
import {
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  USERNAME_LENGTH_MAX,
  USERNAME_LENGTH_MIN,
} from "@millrace/protocol";
import { ROOT_PASSWORD, ROOT_USERNAME } from "../config/defaults.ts";
import { type Environment, prefixedVariable } from "../config/environment.ts";

/** Credentials for the root user of a first start. */
export interface RootCredentials {
  readonly username: string;
  readonly password: string;
  readonly passwordOrigin: PasswordOrigin;
}

/**
 * Who chose a password: the operator, whose secret is shown nowhere; everybody, as the well-known default; or
 * this start, which prints it once.
 */
export type PasswordOrigin = "given" | "default" | "generated";

/** Length of a generated password: 24 of 62 characters are 142 bits. */
const GENERATED_LENGTH = 24;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/**
 * The root user's credentials: from the environment, else the default ones when asked for, else a random
 * password.
 *
 * @throws CodedError InvalidConfiguration when only one of name and password is set; InvalidUsername or
 *         InvalidPassword for lengths out of bounds
 */
export function rootCredentials(options: {
  readonly environment: Environment;
  readonly withDefaults: boolean;
  readonly random: Random;
}): RootCredentials {
  const username = prefixedVariable(options.environment, "ROOT_USERNAME");
  const password = prefixedVariable(options.environment, "ROOT_PASSWORD");
  if (options.withDefaults) {
    return checked({
      username: username ?? ROOT_USERNAME,
      password: password ?? ROOT_PASSWORD,
      passwordOrigin: password === undefined ? "default" : "given",
    });
  }
  if (username !== undefined && password !== undefined) {
    return checked({ username, password, passwordOrigin: "given" });
  }
  if (username === undefined && password === undefined) {
    const generated = generatedPassword(options.random);
    return { username: ROOT_USERNAME, password: generated, passwordOrigin: "generated" };
  }
  const [given, missing] = username === undefined ? ["PASSWORD", "USERNAME"] : ["USERNAME", "PASSWORD"];
  throw new CodedError(
    ErrorCode.InvalidConfiguration,
    `MILLRACE_ROOT_${given} is set and MILLRACE_ROOT_${missing} is not. Set both or neither.`,
  );
}

function checked(credentials: RootCredentials): RootCredentials {
  const { username, password } = credentials;
  if (!isWithin(username, USERNAME_LENGTH_MIN, USERNAME_LENGTH_MAX)) {
    throw new CodedError(
      ErrorCode.InvalidUsername,
      `The root user's name must have ${USERNAME_LENGTH_MIN} to ${USERNAME_LENGTH_MAX} bytes.`,
    );
  }
  if (!isWithin(password, PASSWORD_LENGTH_MIN, PASSWORD_LENGTH_MAX)) {
    throw new CodedError(
      ErrorCode.InvalidPassword,
      `The root user's password must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} bytes.`,
    );
  }
  return credentials;
}

function isWithin(text: string, min: number, max: number): boolean {
  const { length } = new TextEncoder().encode(text);
  return length >= min && length <= max;
}

function generatedPassword(random: Random): string {
  let password = "";
  while (password.length < GENERATED_LENGTH) {
    for (const byte of random.bytes(GENERATED_LENGTH)) {
      // Bytes above the last whole multiple of the alphabet would favour its first characters.
      if (byte < ALPHABET.length * 4) password += ALPHABET[byte % ALPHABET.length];
    }
  }
  return password.slice(0, GENERATED_LENGTH);
}

/** What a start is told of the root user, see `rootCredentials`. */
export interface RootUserOptions {
  readonly environment: Environment;
  readonly withDefaultRootCredentials: boolean;
}

/** The root user that a start with these options makes. @throws CodedError as `rootCredentials` */
export function firstRootUser(options: RootUserOptions, random: Random): RootCredentials {
  const { environment, withDefaultRootCredentials: withDefaults } = options;
  return rootCredentials({ environment, withDefaults, random });
}
