import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type HttpAnswer, HttpUnderTest, sendBody, TOPIC } from "../testing/http-under-test.ts";

const BODY_MAX = 20_000;

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** One operation of the document that the server gives out about itself. */
interface Described extends Operation {
  readonly method: string;
  readonly path: string;
}

/** A good body for each route that takes one; the tests take it apart. */
const BODIES: Readonly<Record<string, object>> = {
  "POST /users/login": { username: "iggy", password: "iggy", version: "1", context: "x" },
  "POST /personal-access-tokens/login": { token: "x" },
  "POST /users/refresh-token": { token: "x" },
  "POST /snapshot": { compression: "Deflated", snapshot_types: ["All"] },
  "POST /streams": { name: "other", options: {} },
  "PUT /streams/{stream_id}": { name: "other", options: {} },
  "POST /streams/{stream_id}/topics": { ...TOPIC, name: "other", options: {} },
  "PUT /streams/{stream_id}/topics/{topic_id}": {
    name: "other",
    compression_algorithm: "none",
    message_expiry: 0,
    max_topic_size: 0,
    options: {},
  },
  "POST /streams/{stream_id}/topics/{topic_id}/messages": sendBody(["x"]),
  "PUT /streams/{stream_id}/topics/{topic_id}/consumer-offsets": {
    consumer_id: 1,
    partition_id: 0,
    offset: 0,
  },
  "POST /streams/{stream_id}/topics/{topic_id}/partitions": { partitions_count: 1 },
  "POST /streams/{stream_id}/topics/{topic_id}/consumer-groups": { name: "other" },
  "POST /users": { username: "other", password: "secret", status: "active", permissions: null, options: {} },
  "PUT /users/{user_id}": { username: "other", status: "active", options: {} },
  "PUT /users/{user_id}/password": { current_password: "iggy", new_password: "iggy" },
  "PUT /users/{user_id}/permissions": { permissions: { global: {}, streams: null } },
  "POST /personal-access-tokens": { name: "other", expiry: 0 },
};

/** Values that a member of this schema cannot have; every whole number is held to its bounds. */
function wrongValues(schema: Schema): unknown[] {
  if (schema.oneOf !== undefined) return [true, {}, [1]];
  if (schema.enum !== undefined) return ["nonsense", 7, {}];
  switch (schema.type) {
    case "integer":
      return [
        -1,
        1.5,
        "x",
        "1.0",
        true,
        {},
        "18446744073709551616",
        "999999999999999999999999999999999999999999",
      ];
    case "string":
      return [7, true, {}, []];
    case "boolean":
      return [7, "perhaps"];
    case "array":
      return [7, {}, "x"];
    default:
      return [7, "x", []];
  }
}

/** Every error, whatever it is about, has a JSON body of four members. */
function assertError(answer: HttpAnswer, status: number, field: string | null, what: string): void {
  const seen = `${what}: ${answer.status} ${answer.text}`;
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json/, seen);
  assert.deepEqual(Object.keys(answer.json), ["id", "code", "reason", "field"], seen);
  assert.deepEqual([answer.status, answer.json.field], [status, field], seen);
  assert.ok(answer.json.reason.length > 0 && /^[a-z0-9_]+$/.test(answer.json.code), seen);
}

describe("every route answers bad input with JSON that names it:", () => {
  let server: HttpUnderTest;
  let operations: Described[];
  const values: Readonly<Record<string, string>> = { stream_id: "s", topic_id: "t", scope: "topic" };
  const urlOf = (path: string) => path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "1");
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    server.call(method, urlOf(path), { ...(body === undefined ? {} : { body }), headers });

  before(async () => {
    server = await HttpUnderTest.start({ HTTP_MAX_REQUEST_SIZE: `${BODY_MAX} B` });
    await server.login();
    await server.makeTopic();
    const { json } = await server.call("GET", "/openapi.json", { token: "" });
    const paths = Object.entries(json.paths as Record<string, Record<string, Operation>>);
    operations = paths.flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, one]) => ({ ...one, method: method.toUpperCase(), path })),
    );
  });
  after(() => server.stop());

  const withBody = () =>
    operations.flatMap(({ method, path, requestBody }) => {
      const schema = requestBody?.content["application/json"]?.schema;
      if (schema === undefined) return [];
      const body = BODIES[`${method} ${path}`] as Readonly<Record<string, unknown>>;
      return [{ method, path, schema, body, what: `${method} ${path}` }];
    });

  test("the table has a body for each route that takes one, with every described member", () => {
    assert.deepEqual(
      withBody()
        .map(({ what }) => what)
        .sort(),
      Object.keys(BODIES).sort(),
    );
    for (const { schema, body, what } of withBody()) {
      assert.deepEqual(Object.keys(schema.properties ?? {}).sort(), Object.keys(body).sort(), what);
    }
  });

  test("a body that is no JSON, no object, of another type or too long", async () => {
    for (const { method, path, what } of withBody()) {
      assertError(await send(method, path, "{"), 400, "body", what);
      for (const text of ["[]", "7", "null", '"x"', ""]) {
        assertError(await send(method, path, text), 422, "body", `${what} ${text}`);
      }
      assertError(await send(method, path, "{}", { "content-type": "text/plain" }), 415, null, what);
      const long = await send(method, path, `{"x":"${"y".repeat(BODY_MAX)}"}`);
      assertError(long, 413, null, what);
      assert.equal(long.headers.get("connection"), "close", what);
    }
  });

  test("a member that is missing although it is needed, or null", async () => {
    for (const { method, path, schema, body, what } of withBody()) {
      for (const name of schema.required ?? []) {
        const { [name]: _, ...rest } = body;
        assertError(await send(method, path, rest), 422, name, `${what} without ${name}`);
        assertError(await send(method, path, { ...body, [name]: null }), 422, name, `${what} ${name}: null`);
      }
    }
  });

  test("a member of another kind, or a number beyond its bounds or not whole", async () => {
    for (const { method, path, schema, body, what } of withBody()) {
      for (const [name, member] of Object.entries(schema.properties ?? {})) {
        for (const value of wrongValues(member)) {
          const answer = await send(method, path, { ...body, [name]: value });
          assertError(answer, 422, name, `${what} ${name}: ${JSON.stringify(value)}`);
        }
      }
    }
  });

  test("a parameter of the query that is no such value, or given twice", async () => {
    let count = 0;
    for (const { method, path, parameters = [], requestBody } of operations) {
      for (const { name, schema } of parameters.filter((one) => one.in === "query")) {
        const wrong = schema.type === "string" && schema.enum === undefined ? [] : ["x", "-1", "1e3", ""];
        for (const query of [...wrong.map((value) => `${name}=${value}`), `${name}=1&${name}=2`]) {
          const body = requestBody === undefined ? undefined : BODIES[`${method} ${path}`];
          const others =
            path.endsWith("/{partition_id}") || path.endsWith("/partitions") ? "" : "&consumer_id=1";
          const url = `${path}?${query}${name === "consumer_id" ? "" : others}`;
          assertError(await send(method, url, body), 400, name, `${method} ${url}`);
          count++;
        }
      }
    }
    assert.ok(count > 30, `${count} parameters`);
  });

  test("a part of the path that is no id, or names nothing", async () => {
    const wide = "4294967296";
    for (const { method, path } of operations.filter((one) => one.path.includes("{"))) {
      const body = BODIES[`${method} ${path}`];
      const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
      for (const name of names.filter((one) => one !== "name")) {
        const url = path
          .replace(`{${name}}`, wide)
          .concat(method === "DELETE" ? "?partitions_count=1&segments_count=1" : "");
        assertError(await send(method, url, body), 400, name, `${method} ${url}`);
      }
    }
  });

  test("routes that are none, and methods that a path does not have", async () => {
    const isLike = (pattern: string, path: string) =>
      new RegExp(`^${pattern.replace(/\{\w+\}/g, "[^/]+")}$`).test(path);
    for (const path of new Set(operations.map((one) => one.path))) {
      const known = operations.filter((one) => isLike(one.path, path)).map((one) => one.method);
      for (const method of ["PATCH", "POST", "PUT", "DELETE"].filter((one) => !known.includes(one))) {
        const answer = await send(method, path);
        assertError(answer, 405, null, `${method} ${path}`);
        assert.equal(answer.json.code, "method_not_allowed");
        const allowed = answer.headers.get("allow")?.split(", ") ?? [];
        assert.deepEqual(
          allowed.filter((one) => one !== "HEAD"),
          [...new Set(known)].sort(),
          path,
        );
      }
    }
    assertError(await server.call("GET", "/nowhere"), 404, null, "/nowhere");
    assertError(await server.call("GET", `/streams/${"x".repeat(1025)}`), 414, null, "a long path");
  });

  test("an option, by its key, cut to 64 characters, with the code of the binary protocol", async () => {
    const long = "k".repeat(200);
    const topic = { ...TOPIC, name: "options" };
    const cases: readonly (readonly [string, string, object, number, string])[] = [
      ["POST", "/streams", { name: "x", options: { a: "1" } }, 4041, "options.a"],
      ["PUT", "/streams/s", { name: "x", options: { a: "1" } }, 4041, "options.a"],
      ["PUT", "/users/0", { options: { theme: "dark" } }, 4041, "options.theme"],
      ["POST", "/users", { username: "abc", password: "abc", options: { b: "1" } }, 4041, "options.b"],
      ["POST", "/streams/s/topics", { ...topic, options: { nope: "1" } }, 4041, "options.nope"],
      [
        "POST",
        "/streams/s/topics",
        { ...topic, options: { [long]: "1" } },
        4041,
        `options.${long}`.slice(0, 64),
      ],
      [
        "POST",
        "/streams/s/topics",
        { ...topic, options: { segment_size: "big" } },
        4042,
        "options.segment_size",
      ],
      [
        "POST",
        "/streams/s/topics",
        { ...topic, options: { durability: "persisted", consumer_offset_durability: "never" } },
        4042,
        "options.consumer_offset_durability",
      ],
      ["POST", "/streams/s/topics", { ...topic, max_topic_size: 1 }, 1019, "max_topic_size"],
      ["POST", "/streams/s/topics", { ...topic, partitions_count: 1001 }, 2015, "partitions_count"],
      [
        "PUT",
        "/streams/s/topics/t",
        { name: "t", options: { segment_size: "1 GiB" } },
        4041,
        "options.segment_size",
      ],
      [
        "PUT",
        "/streams/s/topics/t",
        { name: "t", options: { message_expiry: "soon" } },
        4042,
        "options.message_expiry",
      ],
      ["PUT", "/streams/s/topics/t", { name: "t", max_topic_size: 1 }, 4042, "max_topic_size"],
    ];
    for (const [method, path, body, id, field] of cases) {
      const answer = await server.call(method, path, { body });
      assertError(answer, 400, field, `${method} ${path} ${JSON.stringify(body)}`);
      assert.equal(answer.json.id, id, answer.text);
    }
    const { json } = await server.call("POST", "/streams/s/topics", {
      body: { ...topic, options: { segment_size: "7" } },
    });
    assert.match(json.reason, /The value of "segment_size" is not valid\. \w+/, "and says what is valid");
  });

  test("names and secrets that cannot be, by the code each has", async () => {
    const user = { username: "abc", password: "abc" };
    const cases: readonly (readonly [string, string, object, number, string])[] = [
      ["POST", "/streams", { name: "" }, 1013, "name"],
      ["POST", "/streams", { name: "x".repeat(256) }, 1013, "name"],
      ["POST", "/streams/s/topics", { ...TOPIC, name: "" }, 2014, "name"],
      ["POST", "/streams/s/topics/t/consumer-groups", { name: "" }, 5005, "name"],
      ["POST", "/users", { ...user, username: "" }, 43, "username"],
      ["POST", "/users", { ...user, username: "ab" }, 43, "username"],
      ["POST", "/users", { ...user, password: "" }, 44, "password"],
      ["POST", "/users", { ...user, password: "x".repeat(256) }, 44, "password"],
      ["PUT", "/users/0/password", { current_password: "iggy", new_password: "" }, 44, "new_password"],
      ["POST", "/personal-access-tokens", { name: "", expiry: 0 }, 50, "name"],
      ["POST", "/personal-access-tokens", { name: "x".repeat(256), expiry: 0 }, 50, "name"],
    ];
    for (const [method, path, body, id, field] of cases) {
      const answer = await server.call(method, path, { body });
      assertError(answer, 400, field, `${method} ${path} ${JSON.stringify(body)}`);
      assert.equal(answer.json.id, id, answer.text);
    }
  });

  test("and none of it changed anything", async () => {
    const names = async (path: string) =>
      (await server.call("GET", path)).json.map(
        ({ name, username }: Record<string, string>) => name ?? username,
      );
    assert.deepEqual(await names("/streams"), ["s"]);
    assert.deepEqual(await names("/streams/s/topics"), ["t"]);
    assert.deepEqual(await names("/users"), ["iggy"]);
    assert.deepEqual(await names("/personal-access-tokens"), []);
    assert.equal((await server.call("GET", "/streams/s/topics/t")).json.messages_count, 0);
  });
});
