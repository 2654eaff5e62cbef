import { join } from "node:path";
import { readPrivateFile, unusableFile, writePrivateFile } from "../private-files/private-file.ts";

/** The login of `millrace login` at one server: a personal access token of its own. */
export interface StoredLogin {
  readonly token: string;
  readonly userId: number;
  /** Micros since 1970 as digits; absent for never. */
  readonly expiresAt?: string;
}

/** What is stored for one server. */
export interface ServerTokens {
  readonly login?: StoredLogin;
  /** Tokens of `pat create --store-token`, by name. */
  readonly tokens: Readonly<Record<string, string>>;
}

interface Content {
  readonly version: 1;
  /** By address, as `host:port`. */
  readonly servers: Readonly<Record<string, ServerTokens>>;
}

const NOTHING: ServerTokens = { tokens: {} };

/**
 * Tokens that outlive a command: `tokens.json` in the home of millrace, readable by its owner only.
 *
 * The file is written whole or not at all. One that others may read is refused, as `ssh` does with keys: who
 * could have read it is unknown.
 */
export class TokenFile {
  readonly path: string;

  /** @param home  `MILLRACE_HOME`, by default `~/.millrace`; made when something is stored */
  constructor(home: string) {
    this.path = join(home, "tokens.json");
  }

  /**
   * What is stored for a server.
   * @throws CodedError InvalidConfiguration for a file that others may read or that does not parse
   */
  read(server: string): ServerTokens {
    return this.#content().servers[server] ?? NOTHING;
  }

  /** Stores, replaces or, with undefined, forgets the login at a server. */
  setLogin(server: string, login: StoredLogin | undefined): void {
    const { tokens } = this.read(server);
    this.#write(server, login === undefined ? { tokens } : { login, tokens });
  }

  /** Stores a token under its name, or forgets it. */
  setToken(server: string, name: string, token: string | undefined): void {
    const before = this.read(server);
    const { [name]: _, ...others } = before.tokens;
    this.#write(server, { ...before, tokens: token === undefined ? others : { ...others, [name]: token } });
  }

  #content(): Content {
    const text = readPrivateFile(this.path);
    if (text === undefined) return { version: 1, servers: {} };
    try {
      const content: unknown = JSON.parse(text);
      if (isContent(content)) return content;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw unusableFile(
      `${this.path} holds no tokens that this release can read; remove it and log in again.`,
    );
  }

  #write(server: string, stored: ServerTokens): void {
    const { [server]: _, ...others } = this.#content().servers;
    const isEmpty = stored.login === undefined && Object.keys(stored.tokens).length === 0;
    const servers = isEmpty ? others : { ...others, [server]: stored };
    const content: Content = { version: 1, servers };
    writePrivateFile(this.path, `${JSON.stringify(content, undefined, 2)}\n`);
  }
}

function isContent(content: unknown): content is Content {
  if (typeof content !== "object" || content === null) return false;
  const { version, servers } = content as Partial<Record<keyof Content, unknown>>;
  if (version !== 1 || typeof servers !== "object" || servers === null) return false;
  return Object.values(servers).every(isServerTokens);
}

function isServerTokens(stored: unknown): boolean {
  const { login, tokens } = (stored ?? {}) as Partial<Record<keyof ServerTokens, unknown>>;
  const isTokens = typeof tokens === "object" && tokens !== null;
  const isLogin = login === undefined || typeof (login as Partial<StoredLogin> | null)?.token === "string";
  return isTokens && isLogin && Object.values(tokens).every((token) => typeof token === "string");
}
