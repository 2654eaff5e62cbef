import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fields } from "../../json/fields.ts";
import { writeJson } from "../../json/write-json.ts";
import { unauthenticated } from "../access/access-tokens.ts";
import { describeRoute } from "../openapi/describe-route.ts";
import { schema } from "../openapi/schemas.table.ts";
import type { Identity, SessionTable } from "../sessions/session-table.ts";
import type { Schema } from "./route.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** What the routes that need no login work with. */
export interface PublicRouteParts {
  readonly sessions: SessionTable;
  /** False while the server is stopping. */
  readonly isReady: () => boolean;
}

/** Routes that need no login: signs of life, the two logins, the refresh, and the document of the API. */
export function addPublicRoutes(app: FastifyInstance, { sessions, isReady }: PublicRouteParts): void {
  const plain = (
    url: string,
    summary: string,
    answer: () => { status: number; body: string; type: string },
  ) =>
    app.get(
      url,
      {
        schema: describeRoute({ url, tag: "system", summary, status: 200, answerType: "text/plain" }),
      },
      (_, reply) => {
        const { status, body, type } = answer();
        reply.code(status).type(type).send(body);
      },
    );
  plain("/ping", "A sign of life", () => ({ status: 200, body: "pong", type: "text/plain; charset=utf-8" }));
  plain("/health", "200 while the process answers", () => ({
    status: 200,
    body: '{"status":"healthy"}',
    type: JSON_TYPE,
  }));
  plain("/ready", "200 while the server takes work, 503 when it is stopping", () =>
    isReady()
      ? { status: 200, body: '{"status":"ready"}', type: JSON_TYPE }
      : { status: 503, body: '{"status":"stopping"}', type: JSON_TYPE },
  );

  const login = (
    url: string,
    summary: string,
    body: Schema,
    find: (request: FastifyRequest) => Promise<Identity>,
  ) =>
    app.post(
      url,
      {
        schema: describeRoute({ url, tag: "login", summary, status: 200, body, answer: schema.identity }),
      },
      async (request, reply) => sendIdentity(reply, await find(request)),
    );
  login("/users/login", "Logs in with name and password", schema.passwordLogin, (request) =>
    sessions.login(readCredentials(request.body), peerOf(request)),
  );
  login(
    "/personal-access-tokens/login",
    "Logs in with a personal access token",
    schema.tokenLogin,
    (request) => sessions.login({ token: Fields.ofBody(request.body).text("token") }, peerOf(request)),
  );
  login("/users/refresh-token", "A new access token in place of a good one", schema.tokenLogin, (request) => {
    const token = Fields.ofBody(request.body).text("token");
    if (token === "") throw unauthenticated();
    return sessions.refresh(token);
  });
  app.get("/openapi.json", { schema: { hide: true } }, (_, reply) => {
    reply.type(JSON_TYPE).send(JSON.stringify(app.swagger()));
  });
}

/** Address of the peer as `host:port`. */
export function peerOf({ socket }: FastifyRequest): string {
  return `${socket.remoteAddress ?? "unknown"}:${socket.remotePort ?? 0}`;
}

function readCredentials(body: unknown) {
  const fields = Fields.ofBody(body);
  return {
    username: fields.text("username"),
    password: fields.text("password"),
    version: fields.optionalText("version"),
    context: fields.optionalText("context"),
  };
}

function sendIdentity(reply: FastifyReply, { userId, token, expiresAt }: Identity): FastifyReply {
  const identity = { user_id: userId, access_token: { token, expiry: expiresAt } };
  return reply.type(JSON_TYPE).send(writeJson(identity));
}
