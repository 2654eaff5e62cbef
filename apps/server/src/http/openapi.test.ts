import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpUnderTest } from "../testing/http-under-test.ts";

const S = "/streams/{stream_id}";
const T = `${S}/topics/{topic_id}`;

/** Every route of the API: method, path, status of a success. */
const ROUTES: readonly (readonly [string, string, number])[] = [
  ["get", "/ping", 200],
  ["get", "/health", 200],
  ["get", "/ready", 200],
  ["post", "/users/login", 200],
  ["post", "/personal-access-tokens/login", 200],
  ["post", "/users/refresh-token", 200],
  ["delete", "/users/logout", 204],
  ["get", "/stats", 200],
  ["get", "/metrics", 200],
  ["post", "/snapshot", 200],
  ["get", "/cluster/metadata", 200],
  ["get", "/options/{scope}", 200],
  ["get", "/clients", 200],
  ["get", "/clients/{client_id}", 200],
  ["post", `${T}/messages`, 201],
  ["get", `${T}/messages`, 200],
  ["get", `${T}/consumer-offsets`, 200],
  ["put", `${T}/consumer-offsets`, 204],
  ["delete", `${T}/consumer-offsets/{consumer_id}`, 204],
  ["get", "/users", 200],
  ["post", "/users", 200],
  ["get", "/users/{user_id}", 200],
  ["put", "/users/{user_id}", 204],
  ["delete", "/users/{user_id}", 204],
  ["put", "/users/{user_id}/password", 204],
  ["put", "/users/{user_id}/permissions", 204],
  ["get", "/personal-access-tokens", 200],
  ["post", "/personal-access-tokens", 200],
  ["delete", "/personal-access-tokens/{name}", 204],
  ["get", "/streams", 200],
  ["post", "/streams", 200],
  ["get", S, 200],
  ["put", S, 204],
  ["delete", S, 204],
  ["delete", `${S}/purge`, 204],
  ["get", `${S}/topics`, 200],
  ["post", `${S}/topics`, 200],
  ["get", T, 200],
  ["get", `${T}/retention`, 200],
  ["put", T, 204],
  ["delete", T, 204],
  ["delete", `${T}/purge`, 204],
  ["post", `${T}/partitions`, 200],
  ["delete", `${T}/partitions`, 204],
  ["delete", `${T}/partitions/{partition_id}`, 204],
  ["get", `${T}/consumer-groups`, 200],
  ["post", `${T}/consumer-groups`, 200],
  ["get", `${T}/consumer-groups/{group_id}`, 200],
  ["delete", `${T}/consumer-groups/{group_id}`, 204],
];

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly summary: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: { readonly properties?: object } }>>;
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

async function documentOf(server: HttpUnderTest): Promise<Document> {
  const answer = await server.call("GET", "/openapi.json", { token: "" });
  assert.equal(answer.status, 200);
  return answer.json;
}

test("The document describes every route of the API and no other.", async () => {
  const server = await HttpUnderTest.start();
  const { openapi, paths } = await documentOf(server);
  assert.match(openapi, /^3\./);
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, { responses }]) => `${method} ${path} ${Object.keys(responses)[0]}`,
    ),
  );
  assert.deepEqual(described.sort(), ROUTES.map((route) => `${route[0]} ${route[1]} ${route[2]}`).sort());
  await server.stop();
});

test("Each described operation has words, its parameters, and bodies where the route takes them.", async () => {
  const server = await HttpUnderTest.start();
  const { paths } = await documentOf(server);
  for (const [method, path] of ROUTES) {
    const operation = paths[path]?.[method];
    assert.ok(operation !== undefined && operation.summary.length > 0, path);
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const inPath = (operation.parameters ?? []).filter((one) => one.in === "path").map((one) => one.name);
    assert.deepEqual(inPath, named, `${method} ${path}`);
    const hasBody = operation.requestBody !== undefined;
    assert.equal(hasBody, method === "post" || method === "put", `${method} ${path}`);
    const content = operation.requestBody?.content["application/json"];
    if (hasBody) assert.ok(Object.keys(content?.schema.properties ?? {}).length > 0, `${method} ${path}`);
  }
  await server.stop();
});

/** Keywords of schemas that OpenAPI 3.0 knows and this document uses. */
const KEYWORDS = [
  "type",
  "format",
  "enum",
  "minimum",
  "maximum",
  "oneOf",
  "items",
  "properties",
  "required",
  "additionalProperties",
  "nullable",
  "description",
  "example",
];
const TYPES = ["object", "array", "string", "integer", "number", "boolean"];

/** Every schema below `schema`, itself included, with the path to it. */
function* schemasIn(
  schema: Record<string, unknown>,
  at: string,
): Generator<[string, Record<string, unknown>]> {
  yield [at, schema];
  const { items, additionalProperties, oneOf, properties } = schema;
  const inner = [
    items,
    additionalProperties,
    ...((oneOf as unknown[]) ?? []),
    ...Object.values(properties ?? {}),
  ];
  for (const [index, one] of inner.entries()) {
    if (typeof one === "object" && one !== null)
      yield* schemasIn(one as Record<string, unknown>, `${at}.${index}`);
  }
}

interface Content {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema: Record<string, unknown> }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Record<string, unknown>;
}

interface WholeOperation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

/** Checks one operation; returns how many schemas it has. */
function checkOperation(
  at: string,
  { parameters = [], requestBody = {}, responses }: WholeOperation,
): number {
  const contents = [requestBody, ...Object.values(responses)].flatMap(({ content = {} }) =>
    Object.values(content),
  );
  const roots = [...parameters, ...contents].map(({ schema }) => schema);
  const all = roots.flatMap((schema) => [...schemasIn(schema, at)]);
  for (const [place, schema] of all) checkSchema(place, schema);
  for (const { name, in: where, required } of parameters) {
    assert.ok(where === "query" || (where === "path" && required === true), `${at} ${name}`);
  }
  for (const [status, { description = "" }] of Object.entries(responses)) {
    assert.match(status, /^([1-5]\d\d|[1-5]XX)$/, at);
    assert.notEqual(description, "", `${at} ${status}`);
  }
  return all.length;
}

function checkSchema(at: string, schema: Record<string, unknown>): void {
  const unknown = Object.keys(schema).filter((key) => !KEYWORDS.includes(key));
  assert.deepEqual(unknown, [], at);
  assert.ok(schema["oneOf"] !== undefined || TYPES.includes(schema["type"] as string), at);
  assert.equal(schema["type"] === "array", schema["items"] !== undefined, at);
  const properties = Object.keys((schema["properties"] as object | undefined) ?? {});
  for (const name of (schema["required"] as string[] | undefined) ?? []) {
    assert.ok(properties.includes(name), `${at}: ${name}`);
  }
}

test("The document is one of OpenAPI 3.0: schemas, parameters and answers have the forms it allows.", async () => {
  const server = await HttpUnderTest.start();
  const { text } = await server.call("GET", "/openapi.json", { token: "" });
  assert.doesNotMatch(text, /\d{17}/, "no number that was rounded");
  const { openapi, info, paths, components } = JSON.parse(text);
  assert.match(openapi, /^3\.0\.\d$/);
  assert.ok(info.title.length > 0 && /^\d+\.\d+\.\d+/.test(info.version));
  assert.equal(components.securitySchemes.bearer.scheme, "bearer");
  const operations = Object.entries(paths as Record<string, Record<string, WholeOperation>>).flatMap(
    ([path, methods]) => Object.entries(methods).map(([method, one]) => [`${method} ${path}`, one] as const),
  );
  const counts = operations.map(([at, operation]) => checkOperation(at, operation));
  assert.ok(counts.reduce((sum, count) => sum + count) > 500, "so many schemas were seen");
  await server.stop();
});

test("Every described route is there: a stranger is asked for a token, or let in where none is needed.", async () => {
  const server = await HttpUnderTest.start();
  const { paths } = await documentOf(server);
  for (const [method, path] of ROUTES) {
    const url = path.replace(/\{\w+\}/g, "1");
    const answer = await server.call(method.toUpperCase(), url, { token: "" });
    const isPublic = ["/ping", "/health", "/ready"].includes(path) || /login$|refresh-token$/.test(path);
    assert.equal(paths[path]?.[method]?.security === undefined, isPublic, `${method} ${path}`);
    if (isPublic) assert.notEqual(answer.status, 404, path);
    else assert.deepEqual([answer.status, answer.json.id], [401, 77], `${method} ${path}`);
  }
  await server.stop();
});
