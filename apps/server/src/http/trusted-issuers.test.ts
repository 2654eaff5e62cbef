import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { HttpUnderTest } from "../testing/http-under-test.ts";

const ISSUER = "https://issuer.example";
const AUDIENCE = "millrace";
const KEY_ID = "key-1";

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token as an issuer of one's own signs it. */
function signed(key: KeyObject, claims: object, header: object = {}): string {
  const text = `${part({ alg: "ES256", typ: "JWT", kid: KEY_ID, ...header })}.${part(claims)}`;
  const signature = sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

/** Claims of a good token, issued a moment from now: later than its user. */
function claims(changes: object = {}): object {
  const now = Math.floor(Date.now() / 1000);
  return { iss: ISSUER, aud: AUDIENCE, sub: "somebody", jti: "1", iat: now + 1, exp: now + 60, ...changes };
}

describe("a token of a trusted issuer", () => {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
  let folder: string;
  let keys: Server;
  let server: HttpUnderTest;
  let keysAsked = 0;

  before(async () => {
    keys = createServer((_, response) => {
      keysAsked++;
      const key = { ...own.publicKey.export({ format: "jwk" }), kid: KEY_ID, alg: "ES256", use: "sig" };
      response.setHeader("content-type", "application/json").end(JSON.stringify({ keys: [key] }));
    });
    await new Promise<void>((resolve) => keys.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`;
    folder = await mkdtemp(join(tmpdir(), "millrace-issuers-"));
    const file = join(folder, "config.toml");
    const table = [`issuer = "${ISSUER}"`, `audience = "${AUDIENCE}"`, `jwks_url = "${url}"`, "user_id = 1"];
    await writeFile(file, `[[http.jwt.trusted_issuers]]\n${table.join("\n")}\n`);
    server = await HttpUnderTest.start({ CONFIG_PATH: file });
    await server.login();
    await server.makeTopic();
    const readStreams = { global: { read_streams: true }, streams: null };
    const body = { username: "guest", password: "secret", status: "active", permissions: readStreams };
    assert.equal((await server.call("POST", "/users", { body })).json.id, 1);
  });
  after(async () => {
    await server.stop();
    await new Promise((resolve) => keys.close(resolve));
    keys.closeAllConnections();
    await rm(folder, { recursive: true });
  });

  const answerTo = async (token: string, method = "GET", path = "/users/me") => {
    const { status, json } = await server.call(method, path, { token });
    return [status, json?.id] as const;
  };

  test("stands for the user of its issuer, with that user's rights and no other's.", async () => {
    const token = signed(own.privateKey, claims());
    const streams = await server.call("GET", "/streams", { token });
    assert.deepEqual([streams.status, streams.json.length], [200, 1]);
    assert.deepEqual(await answerTo(token, "DELETE", "/streams/s"), [403, 41]);
    assert.deepEqual(await answerTo(token, "GET", "/users"), [403, 41]);
    const { json } = await server.call("GET", "/clients");
    assert.equal(
      json.some((client: { user_id: number }) => client.user_id === 1),
      true,
    );
  });

  test("has its issuer's keys fetched once.", async () => {
    const before = keysAsked;
    for (let index = 0; index < 3; index++) {
      assert.equal(
        (await server.call("GET", "/streams", { token: signed(own.privateKey, claims()) })).status,
        200,
      );
    }
    assert.ok(before <= 1 && keysAsked === 1, "the first test, or this one, fetched them");
  });

  test("is refused when it has ended, is not yet valid, or never says when it ends.", async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const times of [{ exp: now - 60 }, { nbf: now + 60 }, { exp: undefined }, { exp: "soon" }]) {
      assert.deepEqual(
        await answerTo(signed(own.privateKey, claims(times))),
        [401, 40],
        JSON.stringify(times),
      );
    }
  });

  test("is refused when it is for another audience, or for none, or of another issuer.", async () => {
    for (const who of [{ aud: "elsewhere" }, { aud: undefined }, { aud: "iggy.apache.org" }]) {
      assert.deepEqual(await answerTo(signed(own.privateKey, claims(who))), [401, 40], JSON.stringify(who));
    }
    for (const iss of ["https://other.example", "iggy.apache.org", undefined, 7]) {
      assert.deepEqual(await answerTo(signed(own.privateKey, claims({ iss }))), [401, 40], String(iss));
    }
  });

  test("is refused when another key signed it, whichever it names.", async () => {
    assert.deepEqual(await answerTo(signed(other.privateKey, claims())), [401, 40]);
    assert.deepEqual(await answerTo(signed(other.privateKey, claims(), { kid: "key-2" })), [401, 40]);
    const { x } = own.publicKey.export({ format: "jwk" });
    const text = `${part({ alg: "HS256", typ: "JWT", kid: KEY_ID })}.${part(claims())}`;
    const mac = createHmac("sha256", x ?? "")
      .update(text)
      .digest("base64url");
    assert.deepEqual(await answerTo(`${text}.${mac}`), [401, 40], "the public key is no secret");
    assert.deepEqual(await answerTo(`${part({ alg: "none" })}.${part(claims())}.`), [401, 40]);
    const [head, , signature] = signed(own.privateKey, claims()).split(".");
    assert.deepEqual(await answerTo(`${head}.${part(claims({ sub: "x" }))}.${signature}`), [401, 40]);
  });

  test("ends with the user it stands for: inactive, he gets no session.", async () => {
    const token = signed(own.privateKey, claims({ jti: "last" }));
    assert.equal((await server.call("GET", "/streams", { token })).status, 200);
    assert.equal((await server.call("PUT", "/users/1", { body: { status: "inactive" } })).status, 204);
    assert.deepEqual(await answerTo(token), [401, 40]);
    assert.deepEqual(await answerTo(signed(own.privateKey, claims({ jti: "new" }))), [401, 40]);
  });
});
