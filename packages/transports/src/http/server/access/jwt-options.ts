/** A foreign issuer whose tokens stand for one of our users. */
export interface TrustedIssuer {
  readonly issuer: string;
  readonly audience: string;
  /** Where its public keys are. */
  readonly jwksUrl: string;
  /** The user its tokens act as; never root (0). */
  readonly userId: number;
}

/** How access tokens are made and judged. Times in seconds. */
export interface JwtOptions {
  readonly algorithm: "HS256" | "HS384" | "HS512";
  readonly issuer: string;
  readonly audience: string;
  readonly validIssuers: readonly string[];
  readonly validAudiences: readonly string[];
  readonly expirySeconds: number;
  readonly clockSkewSeconds: number;
  /** Seconds after which a new token becomes valid. */
  readonly notBeforeSeconds: number;
  /** Shared secret; left out, tokens end with this process. */
  readonly secret?: Uint8Array | undefined;
  readonly trustedIssuers: readonly TrustedIssuer[];
}
