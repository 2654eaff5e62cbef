/** A personal access token as the catalog knows it: never the token itself. */
export interface Token {
  /** Unique among its user's tokens. */
  readonly name: string;
  /** BLAKE3 of the token's text, 64 lower-case hex digits. */
  readonly digest: string;
  /** Micros since the epoch from which it is no longer good; 0n for never. */
  readonly expiryAt: bigint;
}

/** True when the token is no longer good. @param nowMicros micros since the epoch */
export function isExpired(token: Token, nowMicros: number): boolean {
  return token.expiryAt !== 0n && token.expiryAt <= BigInt(nowMicros);
}
