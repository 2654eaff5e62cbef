import swagger from "@fastify/swagger";
import { ErrorCode } from "@millrace/errors";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { serverTlsOptions } from "../../tls/server-tls.ts";
import type { AnswerRoom } from "../../virtual/answer-room.ts";
import type { CommandSession } from "../../virtual/command-session.ts";
import { badInput, errorOfCode, HttpError, plainError } from "../errors/http-error.ts";
import { Fields } from "../json/fields.ts";
import { parseJson } from "../json/parse-json.ts";
import { type JsonValue, writeJson } from "../json/write-json.ts";
import { unauthenticated } from "./access/access-tokens.ts";
import { whenAnswerLeft } from "./answer-left.ts";
import { addCors } from "./cors.ts";
import { answerError } from "./errors/answer-error.ts";
import { answerNoHttp } from "./errors/answer-no-http.ts";
import type { ListenHttpOptions } from "./http-options.ts";
import { describeRoute } from "./openapi/describe-route.ts";
import { groupRoutes } from "./routes/group-routes.ts";
import { KnownPaths } from "./routes/known-paths.ts";
import { messageRoutes } from "./routes/message-routes.ts";
import { offsetRoutes } from "./routes/offset-routes.ts";
import type { OptionChecks } from "./routes/option-faults.ts";
import { partitionRoutes } from "./routes/partition-routes.ts";
import { addPublicRoutes, peerOf } from "./routes/public-routes.ts";
import { RequestCall } from "./routes/request-call.ts";
import { RawAnswer, type Route } from "./routes/route.ts";
import { logoutRoute, metricsRoute } from "./routes/session-routes.ts";
import { streamRoutes } from "./routes/stream-routes.ts";
import { snapshotRoute, systemRoutes } from "./routes/system-routes.ts";
import { tokenRoutes } from "./routes/token-routes.ts";
import { topicRoutes } from "./routes/topic-routes.ts";
import { userRoutes } from "./routes/user-routes.ts";
import type { SessionTable } from "./sessions/session-table.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set before a route that needs a login is entered. */
    session: CommandSession | undefined;
  }
}

/** A socket on which nothing moves for so long is closed: longer than any answer is waited for. */
const SILENCE_MAX_MS = 120_000;

/** How long the head of a request may take, counted from the connect for the first: it is one small write. */
const HEADERS_MAX_MS = 10_000;
/** How often in that time slow ones are looked for. */
const HEADERS_CHECKS = 5;

/** Answers up to this length are not worth counting: a socket has few of them. */
const UNCOUNTED_LENGTH_MAX = 4096;

/** Name of the proof of identity in the document of the API. */
const SCHEME_NAME = "bearer";

/** What the app needs beside the options of the listener. */
export interface AppParts {
  readonly sessions: SessionTable;
  /** What bounds answers that wait to be read. */
  readonly answers: AnswerRoom;
  readonly isReady: () => boolean;
}

/** The HTTP application with every route, not listening yet. */
export async function createApp(options: ListenHttpOptions, parts: AppParts): Promise<FastifyInstance> {
  const app = createFastify(options);
  app.server.maxConnections = options.socketsMax;
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => (data) => String(data));
  app.setErrorHandler((error, _, reply) => answerError(error, reply, options.log));
  const paths = new KnownPaths();
  app.addHook("onRoute", ({ method, url }) => paths.add(method, url));
  app.setNotFoundHandler((request, reply) => answerError(noRoute(request, reply, paths), reply, options.log));
  addBodyParser(app);
  countRequests(app, options);
  await app.register(swagger, { openapi: documentHead(options.version) });
  if (options.cors !== undefined) addCors(app, options.cors);
  app.decorateRequest("session", undefined);
  app.register((routes, _options, done) => {
    addPublicRoutes(routes, parts);
    done();
  });
  app.register((routes, _options, done) => {
    addAccess(routes, options, parts.sessions);
    const shared = { optionChecks: options.optionChecks, room: parts.answers };
    for (const route of allRoutes(options)) addRoute(routes, route, shared);
    done();
  });
  await app.ready();
  return app;
}

/** A path that takes other methods is answered 405 and which, as the reference does; another one 404. */
function noRoute({ method, url }: FastifyRequest, reply: FastifyReply, paths: KnownPaths): HttpError {
  const allowed = paths.allowed(url.split("?", 1)[0] ?? "");
  if (allowed === "") {
    const reason = "There is no such route; GET /openapi.json lists them all.";
    return plainError(404, "not_found", reason);
  }
  reply.header("allow", allowed);
  return plainError(405, "method_not_allowed", `This path takes no ${method}, but: ${allowed}.`);
}

/** A socket on which the head of a request does not come to its end is closed, a silent one too. */
function slowRequestLimits({ headersMaxMs = HEADERS_MAX_MS }: ListenHttpOptions) {
  return { headersTimeout: headersMaxMs, connectionsCheckingInterval: headersMaxMs / HEADERS_CHECKS };
}

/** What the document of the API says beside its routes. */
function documentHead(version: string) {
  const bearer = { type: "http", scheme: "bearer", description: "From a login, or a personal access token" };
  const components = { securitySchemes: { [SCHEME_NAME]: bearer as { type: "http"; scheme: string } } };
  return { info: { title: "Millrace", version }, components };
}

/** HTTP/1.1 in clear; with TLS also HTTP/2, as the client chooses in the handshake. */
function createFastify(options: ListenHttpOptions): FastifyInstance {
  const { tls, log } = options;
  const settings = {
    bodyLimit: options.bodyLengthMax,
    clientErrorHandler: answerNoHttp,
    connectionTimeout: SILENCE_MAX_MS,
    routerOptions: { maxParamLength: 1024, ignoreTrailingSlash: true },
    frameworkErrors: (error: unknown, _: unknown, reply: unknown) =>
      answerError(error, reply as FastifyReply, log),
  };
  if (tls === undefined) {
    return fastify({ ...settings, http: slowRequestLimits(options), forceCloseConnections: "idle" });
  }
  const https = { ...serverTlsOptions(tls), ...slowRequestLimits(options), allowHTTP1: true };
  const app = fastify({ ...settings, http2: true, http2SessionTimeout: SILENCE_MAX_MS, https });
  // Everything that is used of requests and replies is the same in both versions of HTTP.
  return app as unknown as FastifyInstance;
}

/** Every route that needs a login. */
function allRoutes(
  options: Pick<ListenHttpOptions, "clock" | "durabilityOf" | "metricsPage">,
): readonly Route[] {
  return [
    logoutRoute,
    ...(options.metricsPage === undefined ? [] : [metricsRoute(options.metricsPage)]),
    ...systemRoutes,
    snapshotRoute(() => options.clock.wallMicros()),
    ...messageRoutes(options),
    ...offsetRoutes,
    ...userRoutes,
    ...tokenRoutes,
    ...streamRoutes,
    ...topicRoutes,
    ...partitionRoutes,
    ...groupRoutes,
  ];
}

function addRoute(
  app: FastifyInstance,
  route: Route,
  { optionChecks, room }: { readonly optionChecks: OptionChecks; readonly room: AnswerRoom },
): void {
  app.route({
    method: route.method,
    url: route.url,
    schema: { ...describeRoute(route), security: [{ [SCHEME_NAME]: [] }] },
    handler: (request, reply) => {
      checkConsistency(request, route);
      const refuse = (error: unknown) => void reply.send(error);
      const answer = (value: JsonValue | RawAnswer | undefined) => {
        try {
          sendAnswer({ request, reply, room }, route, value);
        } catch (error) {
          refuse(error);
        }
      };
      const session = sessionOf(request);
      route.handle(new RequestCall(request, reply, { session, optionChecks })).then(answer, refuse);
    },
  });
}

/** A request, its reply, and what bounds those that are not sent. */
interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly room: AnswerRoom;
}

function sendAnswer(exchange: Exchange, route: Route, answer: JsonValue | RawAnswer | undefined): void {
  const { reply } = exchange;
  if (reply.statusCode === 200) reply.code(route.status);
  if (answer === undefined) reply.send();
  else if (answer instanceof RawAnswer)
    reply.type(answer.contentType).send(counted(exchange, answer.content));
  else reply.type("application/json; charset=utf-8").send(counted(exchange, writeJson(answer)));
}

/**
 * A long answer counts until it left, and is bytes: of a text the socket would keep several copies on the
 * heap, which ends the process when it is full.
 */
function counted({ request, reply, room }: Exchange, content: string | Uint8Array): string | Uint8Array {
  if (content.length <= UNCOUNTED_LENGTH_MAX) return content;
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  whenAnswerLeft(request.raw, reply.raw, room.take(bytes.length));
  return bytes;
}

/** JSON bodies with exact numbers; an empty body counts as none. */
function addBodyParser(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_, text, done) => {
    if (text === "") {
      done(null, undefined);
      return;
    }
    try {
      done(null, parseJson(text as string));
    } catch (error) {
      const position = /position \d+/.exec((error as Error).message)?.[0];
      done(
        badInput(
          "body",
          position === undefined ? "The body is no JSON." : `The body is no JSON at ${position}.`,
        ),
      );
    }
  });
}

/** Finds the session behind the bearer of a token before the body of a request is read. */
function addAccess(routes: FastifyInstance, options: ListenHttpOptions, sessions: SessionTable): void {
  routes.addHook("onRequest", (request, reply, done) => {
    const enter = (session: CommandSession) => {
      request.session = session;
      reply.header("iggy-view", String(options.view()));
      done();
    };
    const token = bearerOf(request.headers.authorization);
    if (token instanceof HttpError) {
      done(token);
      return;
    }
    const known = sessions.known(token);
    if (known !== undefined) enter(known);
    else sessions.find(token, peerOf(request)).then(enter, done);
  });
}

const SCHEME = "Bearer ";

function bearerOf(authorization: string | undefined): string | HttpError {
  if (authorization === undefined) return errorOfCode(ErrorCode.AccessTokenMissing);
  if (authorization.startsWith(SCHEME)) return authorization.slice(SCHEME.length);
  return /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? unauthenticated();
}

function sessionOf(request: FastifyRequest): CommandSession {
  if (request.session === undefined) throw unauthenticated();
  return request.session;
}

/** On one node both words mean the same; others are refused. */
function checkConsistency(request: FastifyRequest, { method }: Route): void {
  if (method !== "GET") return;
  Fields.ofQuery(request.query).choice("consistency", { serializable: 0, linearizable: 0 }, 0);
}

function countRequests(app: FastifyInstance, { metrics }: ListenHttpOptions): void {
  const requests = metrics.counter("http_requests_total", "Requests received over HTTP");
  app.addHook("onRequest", (_request, _reply, done) => {
    requests.add(1);
    done();
  });
}
