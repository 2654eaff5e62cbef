import { ErrorCode } from "@millrace/errors";
import { type Consumer, type Identifier, toIdentifier } from "@millrace/protocol";
import { badInput, errorOfCode } from "../../errors/http-error.ts";
import type { Fields } from "../../json/fields.ts";
import type { RouteCall } from "./route.ts";

const U32_MAX = 0xffff_ffff;
/** A plain consumer that is not named. */
const CONSUMER_DEFAULT = 1;

/** An id in a path or a text: all digits are a number, everything else is a name. @throws HttpError 400 */
export function identifierOf(text: string, field: string): Identifier {
  if (!/^\d+$/.test(text)) return nameOf(text, field);
  const id = Number(text);
  if (id <= U32_MAX) return toIdentifier(id);
  throw badInput(field, `An id is a whole number from 0 to ${U32_MAX}.`);
}

/** The stream of a path. */
export function streamOf({ path }: RouteCall): { readonly stream: Identifier } {
  return { stream: identifierOf(path["stream_id"] ?? "", "stream_id") };
}

/** Stream and topic of a path. */
export function topicOf(call: RouteCall): { readonly stream: Identifier; readonly topic: Identifier } {
  return { ...streamOf(call), topic: identifierOf(call.path["topic_id"] ?? "", "topic_id") };
}

/** Stream, topic and consumer group of a path. */
export function groupOf(call: RouteCall) {
  return { ...topicOf(call), group: identifierOf(call.path["group_id"] ?? "", "group_id") };
}

/** A number in a path. @throws HttpError 400 */
export function numberOf({ path }: RouteCall, name: string): number {
  const text = path[name] ?? "";
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= U32_MAX) return number;
  throw badInput(name, `A whole number from 0 to ${U32_MAX} is needed here.`);
}

/** The plain consumer a query or body names by number or text; always that kind over HTTP. */
export function consumerOf(fields: Fields, isNeeded: boolean): Consumer {
  const name = "consumer_id";
  const value = fields.raw(name);
  if (value === undefined && !isNeeded) return { kind: "consumer", id: toIdentifier(CONSUMER_DEFAULT) };
  if (typeof value === "string") return { kind: "consumer", id: identifierOf(value, name) };
  return { kind: "consumer", id: toIdentifier(fields.u32(name)) };
}

function nameOf(text: string, field: string): Identifier {
  try {
    return toIdentifier(text);
  } catch (error) {
    throw errorOfCode(ErrorCode.InvalidIdentifier, { field, reason: (error as Error).message });
  }
}
