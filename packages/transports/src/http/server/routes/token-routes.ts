import { ErrorCode } from "@millrace/errors";
import {
  decodeBody,
  decodeCreatePersonalAccessTokenReply,
  decodeGetPersonalAccessTokensReply,
  encodeBody,
  encodeCreatePersonalAccessToken,
  encodeDeletePersonalAccessToken,
} from "@millrace/protocol";
import { Fields } from "../../json/fields.ts";
import { tokenJson } from "../../objects/user-json.ts";
import { schema } from "../openapi/schemas.table.ts";
import type { Route } from "./route.ts";

const tag = "personal access tokens";

/** The caller's own personal access tokens. */
export const tokenRoutes: readonly Route[] = [
  {
    method: "GET",
    url: "/personal-access-tokens",
    tag,
    summary: "The caller's tokens, without their secrets",
    status: 200,
    answer: schema.listOf(schema.tokenInfo),
    async handle({ session }) {
      const reply = await session.ask("GetPersonalAccessTokens");
      return decodeBody(decodeGetPersonalAccessTokensReply, reply).map(tokenJson);
    },
  },
  {
    method: "POST",
    url: "/personal-access-tokens",
    tag,
    summary: "Creates a token, which is shown only now; `expiry` is micros from now, 0 is never",
    status: 200,
    body: schema.object({ name: schema.text, expiry: schema.u64 }, ["name", "expiry"]),
    answer: schema.object({ token: schema.text }),
    async handle({ session, body }) {
      const fields = Fields.ofBody(body);
      const request = {
        name: fields.name("name", ErrorCode.InvalidPersonalAccessTokenName),
        expiryMicros: fields.u64("expiry"),
      };
      const reply = await session.ask(
        "CreatePersonalAccessToken",
        encodeBody(encodeCreatePersonalAccessToken, request),
      );
      return { token: decodeBody(decodeCreatePersonalAccessTokenReply, reply) };
    },
  },
  {
    method: "DELETE",
    url: "/personal-access-tokens/:name",
    tag,
    summary: "Deletes one of the caller's tokens",
    status: 204,
    async handle({ session, path }) {
      const request = encodeBody(encodeDeletePersonalAccessToken, { name: path["name"] ?? "" });
      await session.ask("DeletePersonalAccessToken", request);
      return undefined;
    },
  },
];
