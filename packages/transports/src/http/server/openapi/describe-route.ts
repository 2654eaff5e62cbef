import type { Route, Schema } from "../routes/route.ts";
import { schema } from "./schemas.table.ts";

/** Names of the parameters in a path. */
function parametersOf(url: string): string[] {
  return [...url.matchAll(/:([a-z_]+)/g)].map(([, name]) => name ?? "");
}

/** What @fastify/swagger makes an operation of the document from. */
export function describeRoute(
  route: Pick<
    Route,
    "url" | "tag" | "summary" | "status" | "query" | "body" | "answer" | "answerType" | "otherAnswers"
  >,
) {
  const { url, tag, summary, status, query, body, answer, answerType, otherAnswers = {} } = route;
  const parameters = parametersOf(url);
  return {
    tags: [tag],
    summary,
    ...(parameters.length > 0 ? { params: textParameters(parameters) } : {}),
    ...(query === undefined ? {} : { querystring: { type: "object", properties: query } }),
    ...(body === undefined ? {} : { body }),
    response: {
      [status]: answerOf(summary, answer, answerType),
      ...Object.fromEntries(Object.entries(otherAnswers).map(([code, words]) => [code, answerOf(words)])),
      "4xx": { description: "Refused", ...schema.error },
      "5xx": { description: "Not done, or not known to be done", ...schema.error },
    },
  };
}

function textParameters(names: readonly string[]): Schema {
  const properties = Object.fromEntries(names.map((name) => [name, { type: "string" }]));
  return { type: "object", properties, required: names };
}

function answerOf(description: string, answer?: Schema, answerType?: string): Schema {
  if (answerType === undefined)
    return answer === undefined ? { description, type: "null" } : { description, ...answer };
  return { description, content: { [answerType]: { schema: { type: "string", format: "binary" } } } };
}
