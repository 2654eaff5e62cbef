import { ErrorCode } from "@millrace/errors";
import type { Clock, Random } from "@millrace/platform";
import { createRemoteJWKSet, decodeJwt, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { errorOfCode, type HttpError } from "../../errors/http-error.ts";
import type { JwtOptions, TrustedIssuer } from "./jwt-options.ts";
import { uuidV7 } from "./uuid-v7.ts";

/** A secret that is made up is as long as the longest digest. */
const RANDOM_SECRET_LENGTH = 64;
const MICROS_PER_SECOND = 1_000_000;

/** A new token and when it ends, Unix seconds. */
export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: number;
}

/** What a good token says. */
export interface VerifiedToken {
  readonly userId: number;
  /** When the login was proved, micros; a refresh does not change it. */
  readonly provedAtMicros: number;
  /** Which server-side session it uses. Tokens of one login share it, through every refresh. */
  readonly sessionKey: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** Makes and verifies the JSON web tokens of logged-in users. */
export class AccessTokens {
  readonly #options: JwtOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #secret: Uint8Array;
  readonly #foreign: ReadonlyMap<
    string,
    { issuer: TrustedIssuer; keys: ReturnType<typeof createRemoteJWKSet> }
  >;

  constructor(options: JwtOptions, parts: { readonly clock: Clock; readonly random: Random }) {
    this.#options = options;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#secret = options.secret ?? parts.random.bytes(RANDOM_SECRET_LENGTH);
    this.#foreign = new Map(
      options.trustedIssuers.map((issuer) => [
        issuer.issuer,
        { issuer, keys: createRemoteJWKSet(new URL(issuer.jwksUrl)) },
      ]),
    );
  }

  /** Unix seconds now. */
  nowSeconds(): number {
    return Math.floor(this.#clock.wallMicros() / MICROS_PER_SECOND);
  }

  /** A key for the session of a new login. */
  newSessionKey(): string {
    return this.#uuid();
  }

  /** A token for a user, tied to a session; `provedAtMicros` is when the user logged in. */
  async issue(userId: number, sessionKey: string, provedAtMicros: number): Promise<IssuedToken> {
    const { algorithm, issuer, audience, expirySeconds, notBeforeSeconds } = this.#options;
    const now = this.nowSeconds();
    const expiresAt = now + expirySeconds;
    const token = await new SignJWT({ sid: sessionKey, proved_at: provedAtMicros })
      .setProtectedHeader({ alg: algorithm, typ: "JWT" })
      .setJti(this.#uuid())
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(String(userId))
      .setIssuedAt(now)
      .setNotBefore(now + notBeforeSeconds)
      .setExpirationTime(expiresAt)
      .sign(this.#secret);
    return { token, expiresAt };
  }

  /** What a token says. @throws HttpError 401, Unauthenticated, for a bad, expired or foreign one */
  async verify(token: string): Promise<VerifiedToken> {
    try {
      const foreign = this.#foreign.get(decodeJwt(token).iss ?? "");
      return foreign === undefined ? await this.#verifyOwn(token) : await this.#verifyForeign(token, foreign);
    } catch {
      throw unauthenticated();
    }
  }

  async #verifyOwn(token: string): Promise<VerifiedToken> {
    const { algorithm, validIssuers, validAudiences } = this.#options;
    const { payload } = await jwtVerify(token, this.#secret, {
      ...this.#common(),
      algorithms: [algorithm],
      issuer: [...validIssuers],
      audience: [...validAudiences],
    });
    const userId = Number(payload.sub);
    if (!Number.isInteger(userId) || userId < 0) throw unauthenticated();
    const provedAtMicros = Number(payload["proved_at"] ?? issuedAtMicros(payload));
    const sessionKey = String(payload["sid"] ?? payload.jti);
    return { userId, sessionKey, provedAtMicros, expiresAt: expiryOf(payload) };
  }

  async #verifyForeign(
    token: string,
    { issuer, keys }: { issuer: TrustedIssuer; keys: ReturnType<typeof createRemoteJWKSet> },
  ): Promise<VerifiedToken> {
    const expected = { ...this.#common(), issuer: issuer.issuer, audience: issuer.audience };
    const { payload } = await jwtVerify(token, keys, expected);
    const sessionKey = JSON.stringify([issuer.issuer, payload.sub ?? "", payload.jti ?? ""]);
    const provedAtMicros = issuedAtMicros(payload);
    return { userId: issuer.userId, sessionKey, provedAtMicros, expiresAt: expiryOf(payload) };
  }

  #common() {
    return {
      clockTolerance: this.#options.clockSkewSeconds,
      currentDate: new Date(this.nowSeconds() * 1000),
      requiredClaims: ["exp"],
    };
  }

  #uuid(): string {
    return uuidV7(Math.floor(this.#clock.wallMicros() / 1000), this.#random.bytes(10));
  }
}

/** The answer to a token that is bad, expired or unknown. */
export function unauthenticated(): HttpError {
  return errorOfCode(ErrorCode.Unauthenticated);
}

function expiryOf({ exp }: JWTPayload): number {
  return exp ?? 0;
}

/** A token that does not say when it was issued stands for no user that can be told from a later one. */
function issuedAtMicros({ iat }: JWTPayload): number {
  return (iat ?? 0) * MICROS_PER_SECOND;
}
