import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ServerProcess } from "../testing/server-process.ts";

const BUILT = fileURLToPath(new URL("../../dist/bin/", import.meta.url));
let folder = "";

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-bundle-"));
  await cp(BUILT, join(folder, "bin"), { recursive: true });
});

after(() => rm(folder, { recursive: true, force: true }));

test("The built folder alone, with no package in reach, serves every transport and describes its API.", async () => {
  const server = new ServerProcess(
    ["--with-default-root-credentials"],
    {
      MILLRACE_PATH: join(folder, "data"),
      MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
      MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
      MILLRACE_WEBSOCKET_ADDRESS: "127.0.0.1:0",
      MILLRACE_WEBSOCKET_TLS_ENABLED: "true",
      MILLRACE_WEBSOCKET_TLS_SELF_SIGNED: "true",
    },
    join(folder, "bin", "millrace-server.js"),
  );
  try {
    await server.port();
    const description = await fetch(`${server.http()}/openapi.json`);
    assert.equal(description.status, 200);
    assert.ok("/streams" in ((await description.json()) as { paths: object }).paths);
    const login = await fetch(`${server.http()}/users/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "iggy", password: "iggy" }),
    });
    const { access_token } = (await login.json()) as { access_token: { token: string } };
    const headers = { authorization: `Bearer ${access_token.token}` };
    const metrics = await fetch(`${server.http()}/metrics`, { headers });
    assert.match(await metrics.text(), /^# HELP /m);
    assert.match(server.stdout, / {2}ws {3}\S+:\d+/);
  } finally {
    server.signal("SIGTERM");
  }
  assert.equal(await server.exit(), 0, server.stderr);
});

test("The licenses of the libraries in the built folder come with it.", async () => {
  const text = await readFile(join(BUILT, "THIRD-PARTY-NOTICES.txt"), "utf8");
  const { devDependencies } = JSON.parse(
    await readFile(new URL("../../package.json", import.meta.url), "utf8"),
  ) as { devDependencies: Record<string, string> };
  const outside = /^@millrace\/|^@grpc\/|^@opentelemetry\//;
  for (const name of Object.keys(devDependencies).filter((one) => !outside.test(one))) {
    assert.match(text, new RegExp(`^${name} \\d+\\.\\d+\\.\\d+`, "m"));
  }
  assert.doesNotMatch(
    text,
    /^License: (?!MIT|ISC|0BSD|BSD-3-Clause|Apache-2\.0|\(Apache-2\.0 AND BSD-3-Clause\))/m,
  );
});
