import { timestampText } from "../../formats/timestamp.ts";
import { type Field, properties } from "../../output/result.ts";
import { type StoredLogin, TokenFile } from "../../stored-tokens/token-file.ts";
import { type AddCommand, leaf } from "../command.ts";

interface SessionStatus {
  readonly server: string;
  readonly login: StoredLogin | undefined;
}

const FIELDS: readonly Field<SessionStatus>[] = [
  { name: "server", title: "Server", value: ({ server }) => server },
  {
    name: "logged_in",
    title: "Logged in",
    value: ({ login }) => login !== undefined,
    text: ({ login }) => (login === undefined ? "no" : "yes"),
  },
  { name: "user_id", title: "User ID", value: ({ login }) => login?.userId ?? null },
  {
    name: "expires_at",
    title: "Expires",
    value: ({ login }) => (login?.expiresAt === undefined ? null : BigInt(login.expiresAt)),
    text: ({ login }) => expiryText(login),
  },
];

/** `millrace session status`: what is stored here; the server is not asked. */
export const addSessionStatus: AddCommand = (parent, run) => {
  leaf(parent, {
    name: "status",
    alias: "s",
    summary: "say whether a login is stored, without a server",
  }).action(
    run(async ({ server: target, world }) => {
      const server = target().address;
      return properties(FIELDS, { server, login: new TokenFile(world.home).read(server).login });
    }),
  );
};

function expiryText(login: StoredLogin | undefined): string {
  if (login === undefined) return "";
  return login.expiresAt === undefined ? "never" : timestampText(BigInt(login.expiresAt));
}
