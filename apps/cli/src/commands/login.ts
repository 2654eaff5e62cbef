import type { PersonalAccessToken } from "@millrace/client";
import type { Client } from "../connection/client.ts";
import { parseDuration } from "../formats/duration.ts";
import { timestampText } from "../formats/timestamp.ts";
import { parseTokenExpiry } from "../formats/token-expiry.ts";
import { type Result, sentence } from "../output/result.ts";
import { type StoredLogin, TokenFile } from "../stored-tokens/token-file.ts";
import { type AddCommand, leaf } from "./command.ts";

/** Name of the token on the server; the reference's command has one of its own beside it. */
export const LOGIN_TOKEN_NAME = "millrace-cli-session";

const EXPIRY_DEFAULT = "15min";
const MICROS_PER_MS = 1_000n;

/** `millrace login [EXPIRY...]` */
export const addLogin: AddCommand = (parent, run) => {
  leaf(parent, { name: "login", alias: "li", summary: "stay logged in: later commands need no credentials" })
    .argument("[expiry...]", `how long, such as 12h or 7days; none for ever; ${EXPIRY_DEFAULT} by default`)
    .action(
      run(async ({ client, server: target, world }, words: string[]) => {
        const expiry = words.length === 0 ? parseDuration(EXPIRY_DEFAULT) : parseTokenExpiry(words);
        const server = target().address;
        const file = new TokenFile(world.home);
        const session = await client("typed first");
        const left = await tokenOnServer(session);
        const { login } = file.read(server);
        if (left !== undefined && isGood(left) && login?.userId === session.userId)
          return already(server, login);
        if (left !== undefined) await session.deletePersonalAccessToken(LOGIN_TOKEN_NAME);
        const made = await makeLogin(session, expiry);
        file.setLogin(server, made);
        return loggedIn(`Logged in at ${server}`, server, made);
      }),
    );
};

async function tokenOnServer(session: Client): Promise<PersonalAccessToken | undefined> {
  const tokens = await session.getPersonalAccessTokens();
  return tokens.find(({ name }) => name === LOGIN_TOKEN_NAME);
}

/** False for a token that is expired and only waits to be cleaned away. */
function isGood({ expiresAt }: PersonalAccessToken): boolean {
  return expiresAt === undefined || expiresAt > BigInt(Date.now()) * MICROS_PER_MS;
}

async function makeLogin(session: Client, expiry: bigint | undefined): Promise<StoredLogin> {
  const token = await session.createPersonalAccessToken(
    LOGIN_TOKEN_NAME,
    expiry === undefined ? {} : { expiry },
  );
  const { userId } = session;
  if (expiry === undefined) return { token, userId };
  const expiresAt = BigInt(Date.now()) * MICROS_PER_MS + expiry;
  return { token, userId, expiresAt: String(expiresAt) };
}

function already(server: string, login: StoredLogin): Result {
  return loggedIn(`Already logged in at ${server}`, server, login);
}

function loggedIn(text: string, server: string, { userId, expiresAt }: StoredLogin): Result {
  const end = expiresAt === undefined ? "until you log out" : `until ${timestampText(BigInt(expiresAt))}`;
  return sentence(`${text} as user #${userId}, ${end}.`, {
    server,
    user_id: userId,
    expires_at: expiresAt === undefined ? null : BigInt(expiresAt),
  });
}
