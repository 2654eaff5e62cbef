import { ErrorCode } from "@millrace/errors";
import {
  decodeCreatePersonalAccessTokenReply,
  decodeGetPersonalAccessTokensReply,
  encodeCreatePersonalAccessToken,
  encodeDeletePersonalAccessToken,
  TOKEN_NAME_LENGTH_MAX,
  TOKEN_NAME_LENGTH_MIN,
} from "@millrace/protocol";
import { checkedU64 } from "../client-options.ts";
import { nothing } from "../connection/requester.ts";
import { checkLength } from "./check-length.ts";
import { UserCalls } from "./user-calls.ts";

/** A personal access token without its secret. */
export interface PersonalAccessToken {
  readonly name: string;
  /** Micros since 1970; undefined for never. */
  readonly expiresAt: bigint | undefined;
}

function newTokenBody(name: string, expiry: bigint): Uint8Array {
  checkLength("The name of a token", name, {
    min: TOKEN_NAME_LENGTH_MIN,
    max: TOKEN_NAME_LENGTH_MAX,
    code: ErrorCode.InvalidPersonalAccessTokenName,
  });
  return encodeCreatePersonalAccessToken({ name, expiryMicros: checkedU64("expiry", expiry) });
}

/** Calls about one's own personal access tokens. They need a login and no permission. */
export class TokenCalls extends UserCalls {
  /**
   * Creates a token and resolves with its text, which nobody can ask for again.
   *
   * @param options.expiry  micros from now; without it the token is good until it is deleted
   * @throws CodedError InvalidPersonalAccessTokenName outside 3..=30 bytes,
   *         PersonalAccessTokenAlreadyExists,
   *         PersonalAccessTokensLimitReached, InvalidPersonalAccessTokenExpiry; RequestAlreadyApplied when
   *         the connection was lost before the answer: the token is there, its text is lost, so delete it
   */
  createPersonalAccessToken(name: string, options: { readonly expiry?: bigint } = {}): Promise<string> {
    return this.request({
      command: "CreatePersonalAccessToken",
      body: () => newTokenBody(name, options.expiry ?? 0n),
      decode: decodeCreatePersonalAccessTokenReply,
    });
  }

  /** The tokens of the user who is logged in. */
  getPersonalAccessTokens(): Promise<readonly PersonalAccessToken[]> {
    return this.request({
      command: "GetPersonalAccessTokens",
      decode: (payload) =>
        decodeGetPersonalAccessTokensReply(payload).map(({ name, expiryAt }) => ({
          name,
          expiresAt: expiryAt === 0n ? undefined : expiryAt,
        })),
    });
  }

  /** Deletes a token; sessions that began with it go on. Throws ResourceNotFound. */
  deletePersonalAccessToken(name: string): Promise<void> {
    const body = () => encodeDeletePersonalAccessToken({ name });
    return this.request({ command: "DeletePersonalAccessToken", body, decode: nothing });
  }
}
