import { ErrorCode } from "@millrace/errors";
import {
  checkName,
  decodeBody,
  decodeCreatePersonalAccessTokenReply,
  decodeGetPersonalAccessTokensReply,
  encodeCreatePersonalAccessToken,
  encodeDeletePersonalAccessToken,
} from "@millrace/protocol";
import { Millrace } from "./millrace-proto.table.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";

const { method } = Millrace;

/** The caller's own personal access tokens. */
export const tokenMethods: readonly UnaryMethod[] = [
  unaryMethod(method.createPersonalAccessToken, async (call, { name, expiry }) => {
    checkName(name, ErrorCode.InvalidPersonalAccessTokenName);
    const token = { name, expiryMicros: expiry };
    const reply = await ask(call, "CreatePersonalAccessToken", encodeCreatePersonalAccessToken, token);
    return { token: decodeBody(decodeCreatePersonalAccessTokenReply, reply) };
  }),
  unaryMethod(method.listPersonalAccessTokens, async (call) => {
    const tokens = decodeBody(decodeGetPersonalAccessTokensReply, await ask(call, "GetPersonalAccessTokens"));
    return { tokens: tokens.map(({ name, expiryAt }) => ({ name, expiryAt })) };
  }),
  unaryMethod(method.deletePersonalAccessToken, async (call, { name }) => {
    checkName(name, ErrorCode.InvalidPersonalAccessTokenName);
    await ask(call, "DeletePersonalAccessToken", encodeDeletePersonalAccessToken, { name });
    return {};
  }),
];
