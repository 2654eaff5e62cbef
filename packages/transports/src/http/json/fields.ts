import { CodedError, ErrorCode } from "@millrace/errors";
import { isName, parseByteSize } from "@millrace/protocol";
import { badInput, errorOfCode, wrongShape } from "../errors/http-error.ts";
import { decodeBase64 } from "./base64.ts";

const U32_MAX = 0xffff_ffff;
const U64_MAX = 0xffff_ffff_ffff_ffffn;
const DIGITS = /^[0-9]{1,39}$/;

/** Makes the error for a member that is not what its reader needs. */
type Refuse = (field: string, reason: string) => Error;

/** The members of one JSON object or of a query, read one by one; every error names the member. */
export class Fields {
  readonly #values: { readonly [name: string]: unknown };
  readonly #path: string | (() => string);
  readonly #refuse: Refuse;

  private constructor(
    values: { readonly [name: string]: unknown },
    path: string | (() => string),
    refuse: Refuse,
  ) {
    this.#values = values;
    this.#path = path;
    this.#refuse = refuse;
  }

  /** The members of a request's body. @throws HttpError 422 when it is no object */
  static ofBody(body: unknown): Fields {
    return Fields.of(body, "");
  }

  /** The members of a server's answer. @throws CodedError InvalidJsonResponse, also from every reader */
  static ofAnswer(answer: unknown): Fields {
    return Fields.of(answer, "", unexpectedAnswer);
  }

  /**
   * The members of an inner object; `path` says where it stands, such as `messages[3]`, and is asked when
   * needed.
   * @throws HttpError 422 when it is none
   */
  static of(value: unknown, path: string | (() => string), refuse: Refuse = wrongShape): Fields {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      const field = typeof path === "string" ? path : path();
      throw refuse(field === "" ? "body" : field, "A JSON object is needed here.");
    }
    return new Fields(value as { readonly [name: string]: unknown }, path, refuse);
  }

  /** The parameters of a query, all texts. Errors are 400. */
  static ofQuery(query: unknown): Fields {
    return new Fields((query ?? {}) as { readonly [name: string]: unknown }, "", badInput);
  }

  /** True when the member is there and not null. */
  has(name: string): boolean {
    return this.#get(name) !== undefined;
  }

  /** The raw value; undefined when it is absent or null. */
  raw(name: string): unknown {
    return this.#get(name);
  }

  /** Where a member stands, for errors. */
  pathOf(name: string): string {
    const path = typeof this.#path === "string" ? this.#path : this.#path();
    return path === "" ? name : `${path}.${name}`;
  }

  text(name: string): string {
    const value = this.#get(name);
    return typeof value === "string" ? value : this.fail(name, "A text is needed here.");
  }

  /** A text of 1 to 255 bytes, as names and passwords travel. @throws HttpError with `code` for another */
  name(name: string, code: number): string {
    const text = this.text(name);
    if (isName(text)) return text;
    throw errorOfCode(code, { field: this.pathOf(name), reason: "1 to 255 bytes of UTF-8 are needed here." });
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  u32(name: string, fallback?: number): number {
    return Number(this.#whole(name, BigInt(U32_MAX), fallback === undefined ? undefined : BigInt(fallback)));
  }

  optionalU32(name: string): number | undefined {
    return this.has(name) ? this.u32(name) : undefined;
  }

  /** A whole number of 64 bits, as number or as decimal text. */
  u64(name: string, fallback?: bigint): bigint {
    return this.#whole(name, U64_MAX, fallback);
  }

  optionalU64(name: string): bigint | undefined {
    return this.has(name) ? this.u64(name) : undefined;
  }

  /** True or false; in a query the words. */
  flag(name: string, fallback?: boolean): boolean {
    const value = this.#get(name);
    if (value === undefined && fallback !== undefined) return fallback;
    if (value === true || value === "true") return true;
    if (value === false || value === "false") return false;
    return this.fail(name, "true or false is needed here.");
  }

  /** One of a few words; returns what the word stands for. */
  choice<T>(name: string, words: Readonly<Record<string, T>>, fallback?: T): T {
    const value = this.#get(name);
    if (value === undefined && fallback !== undefined) return fallback;
    if (typeof value === "string" && Object.hasOwn(words, value)) return words[value] as T;
    return this.fail(name, `One of these is needed here: ${Object.keys(words).join(", ")}.`);
  }

  /** Bytes as standard base64 with padding. */
  base64(name: string): Uint8Array {
    const bytes = decodeBase64(this.text(name));
    return bytes ?? this.fail(name, "Standard base64 with padding is needed here.");
  }

  list(name: string): readonly unknown[] {
    const value = this.#get(name);
    return Array.isArray(value) ? value : this.fail(name, "A list is needed here.");
  }

  object(name: string): Fields {
    return Fields.of(this.#get(name), this.pathOf(name), this.#refuse);
  }

  /** A list of inner objects. */
  objects(name: string): Fields[] {
    const path = (index: number) => () => `${this.pathOf(name)}[${index}]`;
    return this.list(name).map((value, index) => Fields.of(value, path(index), this.#refuse));
  }

  /** A whole number below 2^53. */
  count(name: string): number {
    return Number(this.#whole(name, BigInt(Number.MAX_SAFE_INTEGER), undefined));
  }

  /** A list of whole numbers of 32 bits. */
  numbers(name: string): number[] {
    return this.list(name).map((value) => {
      const whole = wholeNumber(value);
      if (whole !== undefined && whole >= 0n && whole <= BigInt(U32_MAX)) return Number(whole);
      return this.fail(name, `Each is a whole number from 0 to ${U32_MAX}.`);
    });
  }

  /** Any number; null, which stands for what JSON cannot express, is 0. */
  float(name: string): number {
    // A number with more digits than a double holds comes as an object that shows its text.
    const value = this.#get(name) ?? 0;
    const number = typeof value === "string" ? Number.NaN : Number(String(value));
    return Number.isNaN(number) ? this.fail(name, "A number is needed here.") : number;
  }

  /** Bytes as text with a unit, such as `2048 B`, or as a plain number. */
  byteSize(name: string): number {
    const value = this.#get(name);
    const bytes = typeof value === "string" ? parseByteSize(value) : wholeNumber(value);
    if (bytes !== undefined && bytes >= 0n && bytes <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(bytes);
    return this.fail(name, "A size such as 2048 B is needed here.");
  }

  /** Names and values of all members. */
  entries(): [name: string, value: unknown][] {
    return Object.entries(this.#values);
  }

  /** Throws the error for a member whose value is not what its reader needs. */
  fail(name: string, reason: string): never {
    throw this.#refuse(this.pathOf(name), this.has(name) ? reason : `It is missing. ${reason}`);
  }

  #get(name: string): unknown {
    const value = Object.hasOwn(this.#values, name) ? this.#values[name] : undefined;
    return value === null ? undefined : value;
  }

  #whole(name: string, max: bigint, fallback: bigint | undefined): bigint {
    const value = this.#get(name);
    if (value === undefined && fallback !== undefined) return fallback;
    const whole = wholeNumber(value);
    if (whole !== undefined && whole >= 0n && whole <= max) return whole;
    return this.fail(name, `A whole number from 0 to ${max} is needed here.`);
  }
}

/** The whole number a JSON value or a text of digits stands for; undefined when it is none or not exact. */
export function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === "string" && DIGITS.test(value) ? BigInt(value) : undefined;
}

function unexpectedAnswer(field: string, reason: string): CodedError {
  const message = `The server's answer is not of the HTTP API: ${field}. ${reason}`;
  return new CodedError(ErrorCode.InvalidJsonResponse, message, { details: { field } });
}
