import { CodedError, ErrorCode } from "@millrace/errors";
import type { VouchedUser } from "@millrace/platform";
import {
  encodeBody,
  encodeLoginRegister,
  encodeLoginRegisterWithPat,
  LOGIN_CONTEXT_LENGTH_MAX,
  PASSWORD_LENGTH_MAX,
  PROTOCOL_VERSION,
  TOKEN_LENGTH_MAX,
  USERNAME_LENGTH_MAX,
} from "@millrace/protocol";

/** What clients that do not say their version get; names on the wire are never empty. */
const UNKNOWN_VERSION = "unknown";
/** Of a client's version this much is kept, for logs. */
const VERSION_LENGTH_MAX = 60;

/** Name and password, with what a client says about itself. */
export interface PasswordCredentials {
  readonly username: string;
  readonly password: string;
  readonly version?: string | undefined;
  readonly context?: string | undefined;
}

/** A personal access token. */
export interface TokenCredentials {
  readonly token: string;
  /** It comes with each request, and the session ends with it. */
  readonly isBearer?: boolean;
}

/** Who logs in, in one of three ways; `user` is proved already, by a signed token. */
export type Credentials = PasswordCredentials | TokenCredentials | { readonly user: VouchedUser };

/**
 * The body of the Register request. Texts too long for it are wrong credentials.
 * @throws CodedError InvalidCredentials, InvalidPersonalAccessToken
 */
export function loginBody(credentials: Credentials, sdkName: string): Uint8Array {
  const prefix = { protocolVersion: PROTOCOL_VERSION, sdkName };
  if ("username" in credentials) {
    const { username, password, version, context = "" } = credentials;
    const isTooLong = username.length > USERNAME_LENGTH_MAX || password.length > PASSWORD_LENGTH_MAX;
    if (isTooLong || username === "") throw new CodedError(ErrorCode.InvalidCredentials);
    const sdkVersion = version?.slice(0, VERSION_LENGTH_MAX) || UNKNOWN_VERSION;
    const kept = context.slice(0, LOGIN_CONTEXT_LENGTH_MAX / 4);
    return encodeBody(encodeLoginRegister, { ...prefix, sdkVersion, username, password, context: kept });
  }
  const token = "token" in credentials ? credentials.token : "";
  if (token.length > TOKEN_LENGTH_MAX) throw new CodedError(ErrorCode.InvalidPersonalAccessToken);
  return encodeBody(encodeLoginRegisterWithPat, {
    ...prefix,
    sdkVersion: UNKNOWN_VERSION,
    token,
    context: "",
  });
}
