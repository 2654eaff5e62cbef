import { decodeBody, decodeGetStatsReply } from "@millrace/protocol";
import { Millrace } from "./millrace-proto.table.ts";
import { statsMessage } from "./proto-objects.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";
import type { UnarySessions } from "./unary-sessions.ts";

const { method } = Millrace;

/** A call whose caller is not known: of the methods that need no token. */
export interface PublicCall {
  /** `host:port`. */
  readonly remoteAddress: string;
  /** @throws CodedError Unauthenticated where secrets would travel in clear */
  checkPrivacy(): void;
}

/** A method that needs no token. */
export interface PublicMethod {
  readonly name: string;
  run(call: PublicCall, request: Uint8Array): Promise<Uint8Array>;
}

/** The server's own facts, and the end of a session. */
export const systemMethods: readonly UnaryMethod[] = [
  unaryMethod(method.getStats, async (call) =>
    statsMessage(decodeBody(decodeGetStatsReply, await ask(call, "GetStats"))),
  ),
  unaryMethod(method.logout, async ({ session }) => {
    await session.logout();
    return {};
  }),
];

/** What is answered without a token. */
export function publicMethods(sessions: UnarySessions): readonly PublicMethod[] {
  return [
    unaryMethod(method.ping, async (_call: PublicCall) => ({})),
    unaryMethod(method.login, async (call: PublicCall, { username, password }) => {
      call.checkPrivacy();
      return sessions.login({ username, password }, call.remoteAddress);
    }),
  ];
}
