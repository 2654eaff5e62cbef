import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Manifest, packAll, publishedPackages, root, runOnce, startServer } from "./packed.ts";

const INSTALL_HOOKS = ["preinstall", "install", "postinstall", "prepare"];
const CLIENT_LENGTH_MAX = 2_000_000;
const folder = mkdtempSync(join(tmpdir(), "millrace-install-"));
const app = join(folder, "app");
const bin = (name: string) => join(app, "node_modules", ".bin", name);

before(() => {
  const tarballs = packAll(join(folder, "tarballs"));
  runOnce("mkdir", ["-p", app], folder);
  writeFileSync(join(app, "package.json"), JSON.stringify({ name: "app", version: "1.0.0", type: "module" }));
  // No build tool is in reach: what needs one to install fails here.
  const env = {
    npm_config_cache: join(folder, "cache"),
    npm_config_fetch_timeout: "20000",
    npm_config_fetch_retries: "5",
    CC: "/bin/false",
    CXX: "/bin/false",
    PYTHON: "/bin/false",
  };
  runOnce("npm", ["install", "--no-audit", "--no-fund", ...tarballs], app, env);
});

after(() => rmSync(folder, { recursive: true, force: true }));

function installedManifests(): { path: string; manifest: Manifest }[] {
  const found: { path: string; manifest: Manifest }[] = [];
  const visit = (modules: string) => {
    for (const name of readdirSync(modules)) {
      if (name.startsWith(".")) continue;
      const path = join(modules, name);
      if (name.startsWith("@")) visit(path);
      else if (existsSync(join(path, "package.json"))) {
        found.push({
          path,
          manifest: JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest,
        });
        if (existsSync(join(path, "node_modules"))) visit(join(path, "node_modules"));
      }
    }
  };
  visit(join(app, "node_modules"));
  return found;
}

test("nothing that is installed runs a script at install", () => {
  const installed = installedManifests();
  assert.ok(installed.length > publishedPackages().length);
  const hooked = installed.filter(({ manifest }) =>
    INSTALL_HOOKS.slice(0, 3).some((hook) => manifest.scripts?.[hook]),
  );
  assert.deepEqual(
    hooked.map(({ manifest }) => manifest.name),
    [],
  );
});

test("our own packages bring no test, no source map and a license", () => {
  for (const { manifest } of publishedPackages()) {
    const path = join(app, "node_modules", manifest.name);
    const files = runOnce("find", [path, "-type", "f"], app).split("\n");
    assert.deepEqual(
      files.filter((file) => /\.test\.|\.tsbuildinfo$|\.map$|testdata/.test(file)),
      [],
      manifest.name,
    );
    assert.ok(
      files.some((file) => file.endsWith("/LICENSE")),
      `${manifest.name} has no LICENSE`,
    );
  }
});

/** What a program for Node alone is checked with: no types of a browser, and those of libraries too. */
const STRICT = {
  ...{ strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noEmit: true },
  ...{ module: "nodenext", target: "es2022", lib: ["es2022", "esnext.disposable"] },
  ...{ types: ["node"], typeRoots: [join(root, "node_modules/@types")] },
};
const PROGRAM = `import { type ClientOptions, MillraceClient } from "@millrace/client";
const options: ClientOptions = { username: "iggy", password: "iggy", signal: AbortSignal.timeout(1000) };
await using client = await MillraceClient.connect(options);
await using producer = client.producer({ stream: "s", topic: "t" });
const { offset } = await producer.send({ payload: { json: {} }, headers: { attempt: 1 } });
offset satisfies bigint | undefined;
`;

test("a strict program of TypeScript without the types of a browser takes the client's types", () => {
  writeFileSync(join(app, "program.ts"), PROGRAM);
  const config = { compilerOptions: STRICT, files: ["program.ts"] };
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify(config));
  assert.equal(runOnce(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.json"], app), "");
});

test("whoever writes CommonJS requires the client", () => {
  const script = `const { MillraceClient } = require("@millrace/client"); console.log(typeof MillraceClient.connect)`;
  assert.equal(runOnce("node", ["--input-type=commonjs", "-e", script], app), "function\n");
});

test("the client and what it needs stay under 2 MB", () => {
  const seen = new Set<string>();
  const visit = (name: string): number => {
    if (seen.has(name)) return 0;
    seen.add(name);
    const path = join(app, "node_modules", name);
    const { dependencies = {} } = JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest;
    // Bytes of files; what a folder takes differs from one file system to the next.
    const sizes = runOnce("find", [path, "-type", "f", "-printf", "%s\n"], app).split("\n");
    const own = sizes.reduce((sum, size) => sum + Number(size), 0);
    return Object.keys(dependencies).reduce((sum, next) => sum + visit(next), own);
  };
  const length = visit("@millrace/client");
  assert.ok(length <= CLIENT_LENGTH_MAX, `${length} bytes: ${[...seen].join(", ")}`);
  assert.deepEqual(
    [...seen].filter((name) => /fastify|jose|prom-client|pino|storage|broker/.test(name)),
    [],
  );
});

test("the installed server starts, the installed command and client talk to it, and it stops in order", async () => {
  const server = await startServer(bin("millrace-server"), app);
  try {
    const env = { MILLRACE_USERNAME: "iggy", MILLRACE_PASSWORD: "iggy" };
    const millrace = (...args: string[]) =>
      runOnce(bin("millrace"), ["--tcp-server-address", server.address, ...args], app, env);
    millrace("stream", "create", "shop");
    millrace("topic", "create", "shop", "orders", "1", "none");
    writeFileSync(
      join(app, "hello.js"),
      `import { MillraceClient } from "@millrace/client";
      const client = await MillraceClient.connect("millrace://iggy:iggy@${server.address}");
      const producer = client.producer({ stream: "shop", topic: "orders" });
      console.log(String((await producer.send({ payload: "hello" })).offset));
      await producer.close();
      await client.close();`,
    );
    assert.equal(runOnce(process.execPath, ["hello.js"], app).trim(), "0");
    const polled = millrace("--output", "json", "message", "poll", "shop", "orders", "0", "--first");
    assert.match(polled, /hello/);
  } finally {
    assert.equal(await server.stop(), 0);
  }
});
