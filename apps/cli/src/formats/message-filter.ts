import { isCodedError } from "@millrace/errors";
import { isWireError } from "@millrace/framing";
import { InvalidArgumentError } from "commander";
import type { ShownMessage } from "../connection/client.ts";
import { bytesText } from "./payload.ts";
import { fieldText } from "./typed-field-text.ts";

/** Says whether a message is wanted. */
export type MessageFilter = (message: ShownMessage) => boolean;

/** Flags of a regular expression that mean something for one test. */
const REGEX = /^\/(.+)\/([imsu]*)$/s;

/**
 * Adds one `--filter` to those before it; a message has to meet all of them.
 *
 * - `KEY=VALUE`: a header of that key with that value, as `message poll -s` shows both;
 * - `.path.to.field=VALUE`: the payload is JSON and has that field, a number picks from a list;
 * - `/REGEX/` with flags i, m, s, u: the payload is text and matches.
 *
 * @throws InvalidArgumentError when the text is none of them
 */
export function collectFilter(
  text: string,
  earlier: readonly MessageFilter[] = [],
): readonly MessageFilter[] {
  return [...earlier, filterOf(text)];
}

function filterOf(text: string): MessageFilter {
  const [, pattern, flags] = REGEX.exec(text) ?? [];
  if (pattern !== undefined) return payloadMatches(pattern, flags ?? "");
  const at = text.indexOf("=");
  const [key, value] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 1 || key === ".") {
    throw new InvalidArgumentError("It must be HEADER=VALUE, .json.field=VALUE or /regex/.");
  }
  return key.startsWith(".") ? fieldIs(key.slice(1).split("."), value) : headerIs(key, value);
}

function payloadMatches(pattern: string, flags: string): MessageFilter {
  const regex = compiled(pattern, flags);
  return ({ payload }) => {
    const { text, encoding } = bytesText(payload);
    return encoding === "utf-8" && regex.test(text);
  };
}

function compiled(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    throw new InvalidArgumentError(`It is no regular expression: ${(error as Error).message}`);
  }
}

function fieldIs(path: readonly string[], value: string): MessageFilter {
  return ({ payload }) => {
    const field = path.reduce(memberOf, parsed(bytesText(payload).text));
    if (field === undefined) return false;
    return (typeof field === "string" ? field : JSON.stringify(field)) === value;
  };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A message whose headers cannot be read has none that a filter could name. */
function headerIs(key: string, value: string): MessageFilter {
  return (message) => {
    try {
      return message.headerFields.some((pair) => fieldText(pair[0]) === key && fieldText(pair[1]) === value);
    } catch (error) {
      if (!isCodedError(error) && !isWireError(error)) throw error;
      return false;
    }
  };
}
