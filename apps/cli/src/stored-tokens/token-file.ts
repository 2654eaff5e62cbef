import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CodedError, ErrorCode } from "@millrace/errors";

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

/** Permission bits of everybody but the owner. */
const OTHERS = 0o077;

/**
 * Tokens that outlive a command: `tokens.json` in the home of millrace, readable by its owner only.
 *
 * The file is written whole or not at all. One that others may read is refused, as `ssh` does with keys: who
 * could have read it is unknown.
 */
export class TokenFile {
  readonly path: string;
  readonly #home: string;

  /** @param home  `MILLRACE_HOME`, by default `~/.millrace`; made when something is stored */
  constructor(home: string) {
    this.#home = home;
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
    const text = this.#text();
    if (text === undefined) return { version: 1, servers: {} };
    try {
      const content: unknown = JSON.parse(text);
      if (isContent(content)) return content;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    throw unusable(`${this.path} holds no tokens that this release can read; remove it and log in again.`);
  }

  #text(): string | undefined {
    try {
      const isShared = process.platform !== "win32" && (statSync(this.path).mode & OTHERS) !== 0;
      if (isShared) throw unusable(`${this.path} can be read by others; run: chmod 600 ${this.path}`);
      return readFileSync(this.path, "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  #write(server: string, stored: ServerTokens): void {
    const { [server]: _, ...others } = this.#content().servers;
    const isEmpty = stored.login === undefined && Object.keys(stored.tokens).length === 0;
    const servers = isEmpty ? others : { ...others, [server]: stored };
    mkdirSync(this.#home, { recursive: true, mode: 0o700 });
    const draft = `${this.path}.${process.pid}`;
    rmSync(draft, { force: true });
    const content: Content = { version: 1, servers };
    writeFileSync(draft, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600, flag: "wx" });
    chmodSync(draft, 0o600);
    renameSync(draft, this.path);
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

function unusable(message: string): CodedError {
  return new CodedError(ErrorCode.InvalidConfiguration, message);
}
