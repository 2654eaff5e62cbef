import cors from "@fastify/cors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { CorsOptions } from "./http-options.ts";

/**
 * Lets pages of other origins use the API from a browser.
 *
 * The plugin answers preflights, in a scope that no other request enters: what it does for each of those,
 * which is the same every time, would cost a single message more than its journal does.
 */
export function addCors(app: FastifyInstance, options: CorsOptions): void {
  const { origins, privateNetwork } = options;
  const isForAll = origins.includes("*");
  if (privateNetwork) addPrivateNetwork(app);
  addAnswerHeaders(app, options, isForAll);
  app.register((preflights, _options, done) => {
    preflights.register(cors, {
      origin: isForAll ? "*" : [...origins],
      methods: [...options.methods],
      allowedHeaders: [...options.allowedHeaders],
      exposedHeaders: [...options.exposedHeaders],
      credentials: options.credentials,
    });
    done();
  });
}

/** The headers of every answer, those of errors included. */
function addAnswerHeaders(app: FastifyInstance, options: CorsOptions, isForAll: boolean): void {
  const exposed = options.exposedHeaders.join(", ");
  app.addHook("onRequest", (request, reply, done) => {
    if (isForAll) reply.header("access-control-allow-origin", "*");
    else allowListed(request, reply, options.origins);
    if (options.credentials) reply.header("access-control-allow-credentials", "true");
    reply.header("access-control-expose-headers", exposed);
    done();
  });
}

/** Answers differ by origin, which caches have to know. */
function allowListed(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  const { origin } = request.headers;
  reply.header("vary", "Origin");
  if (origin !== undefined && origins.includes(origin)) reply.header("access-control-allow-origin", origin);
}

function addPrivateNetwork(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    const isAsked = request.headers["access-control-request-private-network"] === "true";
    if (request.method === "OPTIONS" && isAsked) reply.header("access-control-allow-private-network", "true");
    done();
  });
}
