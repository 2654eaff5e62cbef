import assert from "node:assert/strict";
import { test } from "node:test";
import { HttpUnderTest } from "../testing/http-under-test.ts";

const SECRET = "0123456789abcdef0123456789abcdef-secret";

test("Login gives an identity whose token opens the API; without or with a bad one it is 77 or 40.", async () => {
  const server = await HttpUnderTest.start();
  const missing = await server.call("GET", "/streams", { token: "" });
  assert.deepEqual(
    [missing.status, missing.json.id, missing.json.code, missing.json.field],
    [401, 77, "access_token_missing", null],
  );
  for (const token of ["nonsense", "a.b.c", "x".repeat(300)]) {
    const bad = await server.call("GET", "/streams", { token });
    assert.deepEqual([bad.status, bad.json.id], [401, 40], token.slice(0, 10));
  }
  const basic = await server.call("GET", "/streams", { token: "", headers: { authorization: "Basic aTpp" } });
  assert.deepEqual([basic.status, basic.json.id], [401, 40]);
  const body = { username: "iggy", password: "iggy", version: "1.0", context: "test" };
  const answer = await server.call("POST", "/users/login", { token: "", body });
  assert.equal(answer.status, 200);
  assert.equal(answer.json.user_id, 0);
  const { token, expiry } = answer.json.access_token;
  assert.ok(Math.abs(expiry - Date.now() / 1000 - 3600) < 60);
  const claims = JSON.parse(Buffer.from(token.split(".")[1], "base64url").toString());
  assert.deepEqual(
    [claims.iss, claims.aud, claims.sub, claims.exp],
    ["iggy.apache.org", "iggy.apache.org", "0", expiry],
  );
  assert.match(claims.jti, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  const streams = await server.call("GET", "/streams", { token });
  assert.deepEqual([streams.status, streams.text, streams.headers.get("iggy-view")], [200, "[]", "0"]);
  await server.stop();
});

test("Wrong credentials are 42, whatever is wrong with them, and a wrong token is 53.", async () => {
  const server = await HttpUnderTest.start();
  for (const [username, password] of [
    ["iggy", "wrong"],
    ["nobody", "iggy"],
    ["", ""],
    ["x".repeat(1000), "iggy"],
    ["iggy", "p".repeat(1000)],
  ]) {
    const answer = await server.call("POST", "/users/login", { body: { username, password } });
    assert.deepEqual([answer.status, answer.json.id, answer.json.code], [400, 42, "invalid_credentials"]);
  }
  for (const token of ["unknown", "", "t".repeat(500)]) {
    const answer = await server.call("POST", "/personal-access-tokens/login", { body: { token } });
    assert.deepEqual([answer.status, answer.json.id], [401, 53]);
  }
  const shape = await server.call("POST", "/users/login", { body: { username: "iggy" } });
  assert.deepEqual([shape.status, shape.json.field], [422, "password"]);
  await server.stop();
});

test("A refresh gives a second token for the same session; logout ends the session, not the token.", async () => {
  const server = await HttpUnderTest.start();
  const token = await server.login();
  const refreshed = await server.call("POST", "/users/refresh-token", { token: "", body: { token } });
  assert.equal(refreshed.status, 200, refreshed.text);
  const second = refreshed.json.access_token.token;
  assert.notEqual(second, token);
  const clientsOf = async (by: string) => (await server.call("GET", "/clients", { token: by })).json;
  const [before] = await clientsOf(token);
  assert.deepEqual([before.transport, before.user_id], ["HTTP", 0]);
  assert.deepEqual(await clientsOf(second), [before]);
  assert.equal((await server.call("DELETE", "/users/logout", { token })).status, 204);
  assert.equal(server.http.sessionsCount, 0);
  const [after] = await clientsOf(second);
  assert.notEqual(after.client_id, before.client_id, "the token still says who it is");
  assert.equal(server.broker.shard.metadata.clientTable.count, 1);
  for (const bad of ["nonsense", "a.b.c"]) {
    const answer = await server.call("POST", "/users/refresh-token", { body: { token: bad } });
    assert.deepEqual([answer.status, answer.json.id], [401, 40]);
  }
  await server.stop();
});

test("A token ends when it says so; one with a configured secret outlives the process, others do not.", async () => {
  const settings = { HTTP_JWT_ENCODING_SECRET: SECRET, HTTP_JWT_ACCESS_TOKEN_EXPIRY: "1 h" };
  const first = await HttpUnderTest.start(settings);
  const token = await first.login();
  await first.makeTopic();
  await first.stop({ keepFolder: true });

  const second = await HttpUnderTest.start(settings, first.folder);
  const streams = await second.call("GET", "/streams", { token });
  assert.deepEqual(
    streams.json.map(({ name }: { name: string }) => name),
    ["s"],
  );
  await second.stop({ keepFolder: true });

  const brief = { HTTP_JWT_ACCESS_TOKEN_EXPIRY: "1 s", HTTP_JWT_CLOCK_SKEW: "0" };
  const third = await HttpUnderTest.start(brief, first.folder);
  const foreign = await third.call("GET", "/streams", { token });
  assert.deepEqual([foreign.status, foreign.json.id], [401, 40], "another secret signed it");
  const ending = await third.login();
  await new Promise((resolve) => setTimeout(resolve, 2100));
  const late = await third.call("GET", "/streams", { token: ending });
  assert.deepEqual([late.status, late.json.id], [401, 40]);
  const refresh = await third.call("POST", "/users/refresh-token", { body: { token: ending } });
  assert.deepEqual([refresh.status, refresh.json.id], [401, 40]);
  await third.stop();
});

test("HTTP takes at most half of the session table; the next login is 503 and asks to come back.", async () => {
  const server = await HttpUnderTest.start({ METADATA_CLIENTS_TABLE_MAX: "4" });
  await server.login();
  const kept = await server.login();
  const full = await server.call("POST", "/users/login", {
    token: "",
    body: { username: "iggy", password: "iggy" },
  });
  assert.deepEqual([full.status, full.json.id, full.headers.get("retry-after")], [503, 58, "1"]);
  assert.equal((await server.call("DELETE", "/users/logout", { token: kept })).status, 204);
  await server.login();
  await server.stop();
});

test("A session the broker ends is made anew at the next use of its token.", async () => {
  const server = await HttpUnderTest.start();
  await server.login();
  for (const connection of server.broker.shard.connections.list()) connection.close();
  const streams = await server.call("GET", "/streams");
  assert.equal(streams.status, 200, streams.text);
  await server.stop();
});

test("Signs of life need no login; metrics need one, count requests, and can be elsewhere or off.", async () => {
  const server = await HttpUnderTest.start({ HTTP_METRICS_ENDPOINT: "/inside/metrics" });
  const open = { token: "" };
  assert.equal((await server.call("GET", "/ping", open)).text, "pong");
  assert.deepEqual((await server.call("GET", "/health", open)).json, { status: "healthy" });
  assert.deepEqual((await server.call("GET", "/ready", open)).json, { status: "ready" });
  assert.equal((await server.call("GET", "/inside/metrics", open)).json.id, 77);
  await server.login();
  await server.makeTopic(3);
  const { text, headers } = await server.call("GET", "/inside/metrics");
  assert.match(headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  for (const line of [
    /^streams 1$/m,
    /^topics 1$/m,
    /^partitions 3$/m,
    /^segments 3$/m,
    /^messages 0$/m,
    /^users 1$/m,
    /^clients 1$/m,
  ]) {
    assert.match(text, line);
  }
  assert.match(text, /^http_requests_total [1-9][0-9]*$/m);
  server.http.stopBeingReady();
  const stopping = await server.call("GET", "/ready", open);
  assert.deepEqual([stopping.status, stopping.json], [503, { status: "stopping" }]);
  await server.stop();
  const without = await HttpUnderTest.start({ HTTP_METRICS_ENABLED: "false" });
  await without.login();
  assert.equal((await without.call("GET", "/metrics")).status, 404);
  await without.stop();
});

test("Pages of other origins may call the API as far as the configuration says.", async () => {
  const preflight = (server: HttpUnderTest, origin: string) =>
    server.call("OPTIONS", "/streams", {
      token: "",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-private-network": "true",
      },
    });
  const open = await HttpUnderTest.start();
  const any = await preflight(open, "http://a.example");
  assert.equal(any.headers.get("access-control-allow-origin"), "*");
  assert.equal(any.headers.get("access-control-allow-methods"), "GET, POST, PUT, DELETE");
  assert.equal(any.headers.get("access-control-allow-private-network"), null);
  const plain = await open.call("GET", "/ping", { headers: { origin: "http://a.example" } });
  assert.equal(plain.headers.get("access-control-allow-origin"), "*");
  assert.equal(plain.headers.get("access-control-expose-headers"), "iggy-view");
  assert.equal(plain.headers.get("vary"), null);
  await open.stop();
  const listed = await HttpUnderTest.start({
    HTTP_CORS_ALLOWED_ORIGINS: "http://a.example,http://b.example",
    HTTP_CORS_ALLOW_CREDENTIALS: "true",
    HTTP_CORS_ALLOW_PRIVATE_NETWORK: "true",
  });
  const good = await preflight(listed, "http://b.example");
  assert.equal(good.headers.get("access-control-allow-origin"), "http://b.example");
  assert.equal(good.headers.get("access-control-allow-credentials"), "true");
  assert.equal(good.headers.get("access-control-allow-private-network"), "true");
  assert.equal(
    (await preflight(listed, "http://c.example")).headers.get("access-control-allow-origin"),
    null,
  );
  const refused = await listed.call("GET", "/streams", {
    token: "",
    headers: { origin: "http://a.example" },
  });
  assert.equal(refused.status, 401);
  assert.equal(refused.headers.get("access-control-allow-origin"), "http://a.example", "with errors too");
  assert.equal(refused.headers.get("access-control-allow-credentials"), "true");
  assert.equal(refused.headers.get("vary"), "Origin");
  const stranger = await listed.call("GET", "/health", {
    token: "",
    headers: { origin: "http://c.example" },
  });
  assert.equal(stranger.headers.get("access-control-allow-origin"), null);
  assert.equal(stranger.headers.get("vary"), "Origin");
  await listed.stop();
  const off = await HttpUnderTest.start({ HTTP_CORS_ENABLED: "false" });
  assert.equal((await preflight(off, "http://a.example")).headers.get("access-control-allow-origin"), null);
  await off.stop();
});

test("A token of a deleted user is worth nothing, also when a new user has got the same id.", async () => {
  const server = await HttpUnderTest.start();
  const root = await server.login();
  const body = { username: "alice", password: "secret-1", status: "active", permissions: null };
  const made = await server.call("POST", "/users", { body });
  assert.equal(made.status, 200, made.text);
  const token = await server.login("alice", "secret-1");
  assert.equal((await server.call("GET", "/users/me", { token })).json.username, "alice");
  const refreshed = await server.call("POST", "/users/refresh-token", { body: { token } });
  assert.equal((await server.call("DELETE", "/users/alice", { token: root })).status, 204);
  const again = await server.call("POST", "/users", { token: root, body: { ...body, username: "bob" } });
  assert.equal(again.json.id, made.json.id, "the id is used again");
  const late = await server.call("POST", "/users/refresh-token", { body: { token } });
  for (const old of [token, refreshed.json.access_token.token, late.json.access_token.token]) {
    const answer = await server.call("GET", "/users/me", { token: old });
    assert.deepEqual([answer.status, answer.json.id], [401, 40], answer.text);
  }
  await server.stop();
});

test("A personal access token is worth nothing once it is deleted, also where it was used before.", async () => {
  const server = await HttpUnderTest.start();
  const root = await server.login();
  const body = { name: "short", expiry: 0 };
  const { token } = (await server.call("POST", "/personal-access-tokens", { token: root, body })).json;
  assert.equal((await server.call("GET", "/streams", { token })).status, 200);
  const login = await server.call("POST", "/personal-access-tokens/login", { body: { token } });
  const removed = await server.call("DELETE", "/personal-access-tokens/short", { token: root });
  assert.equal(removed.status, 204);
  for (let time = 0; time < 2; time += 1) {
    const answer = await server.call("GET", "/streams", { token });
    assert.deepEqual([answer.status, answer.json.id], [401, 40], answer.text);
  }
  const { token: own } = login.json.access_token;
  assert.equal((await server.call("GET", "/streams", { token: own })).status, 200, "a login outlives it");
  await server.stop();
});
