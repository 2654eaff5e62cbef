import { CodedError, ErrorCode, errorText } from "@millrace/errors";
import { Fields } from "../json/fields.ts";
import { parseJson } from "../json/parse-json.ts";

/** Characters of a text that is no error of the API which are shown. */
const SHOWN_MAX = 200;

const SUCCESS = { min: 200, max: 299 } as const;

/** Statuses of errors that have no code of the table, and the code that says the same. */
const CODE_OF_STATUS: ReadonlyMap<number, number> = new Map<number, number>([
  [400, ErrorCode.InvalidCommand],
  [401, ErrorCode.Unauthenticated],
  [403, ErrorCode.Unauthorized],
  [404, ErrorCode.ResourceNotFound],
  [413, ErrorCode.FrameTooLarge],
  [415, ErrorCode.InvalidCommand],
  [422, ErrorCode.InvalidCommand],
  [429, ErrorCode.TransientNotAccepted],
  [502, ErrorCode.TransientNotCommitted],
  [503, ErrorCode.TransientNotAccepted],
  [504, ErrorCode.TransientNotCommitted],
]);

/** What a server answered over HTTP, read whole. */
export class ApiAnswer {
  readonly status: number;
  readonly bytes: Uint8Array;

  constructor(status: number, bytes: Uint8Array) {
    this.status = status;
    this.bytes = bytes;
  }

  get isSuccess(): boolean {
    return this.status >= SUCCESS.min && this.status <= SUCCESS.max;
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }

  /** The members of a JSON object. @throws CodedError InvalidJsonResponse, also when a member is wrong */
  fields(): Fields {
    return Fields.ofAnswer(this.#json());
  }

  /** The objects of a JSON list. @throws CodedError InvalidJsonResponse */
  list(): Fields[] {
    const list = this.#json();
    if (Array.isArray(list)) return list.map(Fields.ofAnswer);
    throw new CodedError(ErrorCode.InvalidJsonResponse, "The server's answer is no list, as the API has it.");
  }

  /** True for the answer to a read of one thing that is not there. */
  get isMissing(): boolean {
    return this.status === 404 && this.#errorFields()?.raw("code") === "not_found";
  }

  /**
   * The error that an answer other than a success stands for: with the code of its body, or the one that
   * suits its status, and the server's own words.
   */
  failure(): CodedError {
    const fields = this.#errorFields();
    const [id, word] = [fields?.raw("id"), fields?.raw("code")];
    const details = { status: this.status };
    if (typeof id === "number" && typeof word === "string" && errorText(id) === word) {
      return new CodedError(id, reasonOf(fields) ?? "", { details });
    }
    const reason = reasonOf(fields) ?? this.text.trim().slice(0, SHOWN_MAX);
    const code = CODE_OF_STATUS.get(this.status) ?? ErrorCode.HttpResponseError;
    return new CodedError(code, `HTTP ${this.status}${reason === "" ? "" : `: ${reason}`}`, { details });
  }

  #json(): unknown {
    try {
      return parseJson(this.text);
    } catch (cause) {
      throw new CodedError(ErrorCode.InvalidJsonResponse, "The server's answer is not JSON.", { cause });
    }
  }

  #errorFields(): Fields | undefined {
    try {
      return this.fields();
    } catch {
      // Proxies and servers of others answer errors in text: then only the status tells.
      return undefined;
    }
  }
}

function reasonOf(fields: Fields | undefined): string | undefined {
  const reason = fields?.raw("reason");
  return typeof reason === "string" && reason !== "" ? reason : undefined;
}
