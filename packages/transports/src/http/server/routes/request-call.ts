import type { FastifyReply, FastifyRequest } from "fastify";
import type { CommandSession } from "../../../virtual/command-session.ts";
import { Fields } from "../../json/fields.ts";
import type { OptionChecks } from "./option-faults.ts";
import type { RouteCall } from "./route.ts";

/** What a handler is given, on top of Fastify's request and reply. */
export class RequestCall implements RouteCall {
  readonly session: CommandSession;
  readonly optionChecks: OptionChecks;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(
    request: FastifyRequest,
    reply: FastifyReply,
    parts: { readonly session: CommandSession; readonly optionChecks: OptionChecks },
  ) {
    this.session = parts.session;
    this.optionChecks = parts.optionChecks;
    this.#request = request;
    this.#reply = reply;
  }

  get path(): Readonly<Record<string, string>> {
    return this.#request.params as Readonly<Record<string, string>>;
  }

  get query(): Fields {
    return Fields.ofQuery(this.#request.query);
  }

  get body(): unknown {
    return this.#request.body;
  }

  header(name: string, value: string): void {
    this.#reply.header(name, value);
  }

  status(status: number): void {
    this.#reply.code(status);
  }
}
