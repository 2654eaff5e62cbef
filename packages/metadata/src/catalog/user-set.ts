import { NamedSet } from "./named-set.ts";
import { isExpired, type Token } from "./token.ts";
import type { User } from "./user.ts";

/** A token and the user it stands for. */
export interface TokenHolder {
  readonly user: User;
  readonly token: Token;
}

/** What names one token: ids of users and names of tokens. */
export interface TokenName {
  readonly userId: number;
  readonly name: string;
}

/** The users, found by id, by name and by the digest of one of their tokens. */
export class UserSet extends NamedSet<User> {
  readonly #holderOf = new Map<string, number>();

  override add(member: User): void {
    super.add(member);
    this.#noteTokens(member);
  }

  override replace(member: User): void {
    this.#forgetTokens(member.id);
    super.replace(member);
    this.#noteTokens(member);
  }

  override remove(member: User): void {
    this.#forgetTokens(member.id);
    super.remove(member);
  }

  /** Whose token it is, expired or not. */
  byToken(digest: string): TokenHolder | undefined {
    const id = this.#holderOf.get(digest);
    const user = id === undefined ? undefined : this.byId(id);
    const token = user?.tokens.find((one) => one.digest === digest);
    return user === undefined || token === undefined ? undefined : { user, token };
  }

  /** Tokens that are no longer good, `countMax` at most. */
  expiredTokens(nowMicros: number, countMax: number): TokenName[] {
    const expired: TokenName[] = [];
    for (const user of this.list()) {
      for (const token of user.tokens) {
        if (expired.length === countMax) return expired;
        if (isExpired(token, nowMicros)) expired.push({ userId: user.id, name: token.name });
      }
    }
    return expired;
  }

  #noteTokens(user: User): void {
    for (const { digest } of user.tokens) this.#holderOf.set(digest, user.id);
  }

  #forgetTokens(id: number): void {
    for (const { digest } of this.byId(id)?.tokens ?? []) this.#holderOf.delete(digest);
  }
}
