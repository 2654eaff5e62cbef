import type { CommandSession } from "../../../virtual/command-session.ts";
import type { Fields } from "../../json/fields.ts";
import type { JsonValue } from "../../json/write-json.ts";
import type { OptionChecks } from "./option-faults.ts";

/** A JSON schema for the document that describes the API; requests are checked by the readers of `Fields`. */
export type Schema = Readonly<Record<string, unknown>>;

/** What a handler is given. */
export interface RouteCall {
  readonly session: CommandSession;
  /** Says which option a refusal is about. */
  readonly optionChecks: OptionChecks;
  /** Segments of the path by name, decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Fields;
  /** The parsed JSON body; undefined when there is none. */
  readonly body: unknown;
  /** Sets a header of the answer. This and the one below cannot be taken out of the call. */
  header(this: RouteCall, name: string, value: string): void;
  /** Answers with another status than the route's own. */
  status(this: RouteCall, status: number): void;
}

/** One route of the API, with the words that describe it. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Path with `:name` for its parameters. */
  readonly url: string;
  readonly tag: string;
  readonly summary: string;
  /** Status of a success. */
  readonly status: 200 | 201 | 204;
  readonly query?: Readonly<Record<string, Schema>>;
  readonly body?: Schema;
  readonly answer?: Schema;
  /** Other successes, without a body: status and words. */
  readonly otherAnswers?: Readonly<Record<number, string>>;
  /** Content type of the answer when it is no JSON. */
  readonly answerType?: string;
  /** Undefined for an answer without a body. */
  handle(call: RouteCall): Promise<JsonValue | RawAnswer | undefined>;
}

/** An answer that is sent as it is, not made of JSON values. */
export class RawAnswer {
  readonly contentType: string;
  readonly content: string | Uint8Array;

  constructor(contentType: string, content: string | Uint8Array) {
    this.contentType = contentType;
    this.content = content;
  }
}
