import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { codeBlocks } from "./code-blocks.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "millrace-tls-page-"));
const bin = (app: string) => join(root, "apps", ...app.split("/"));
const commandsOf = (page: string) =>
  codeBlocks(readFileSync(join(root, "docs", page), "utf8"))
    .filter(({ language }) => language === "sh")
    .map(({ code }) => code);
let server: ChildProcess | undefined;

after(async () => {
  const ended = new Promise((resolve) => server?.once("exit", resolve));
  server?.kill("SIGTERM");
  if (server !== undefined) await ended;
  rmSync(folder, { recursive: true, force: true });
});

/** Runs commands of a page in a folder of their own. */
function run(code: string) {
  return spawnSync("bash", ["-euo", "pipefail", "-c", code], { cwd: folder, encoding: "utf8" });
}

/** Starts the server as the page does, on free ports; resolves with the addresses of its banner. */
function start(code: string): Promise<{ tcp: string; http: string }> {
  const line = `exec ${process.execPath} ${bin("server/dist/bin/millrace-server.js")} --with-default-root-credentials`;
  const ports =
    "MILLRACE_TCP_ADDRESS=127.0.0.1:0 MILLRACE_HTTP_ADDRESS=127.0.0.1:0 MILLRACE_WEBSOCKET_ENABLED=false";
  const child = spawn("bash", ["-c", code.replace("npm start", `export ${ports}\n${line} --data data`)], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  server = child;
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const tcp = /tcp\s+(127\.0\.0\.1:\d+)/.exec(text)?.[1];
      const http = /http\s+(?:https:\/\/)?(127\.0\.0\.1:\d+)/.exec(text)?.[1];
      if (tcp !== undefined && http !== undefined) resolve({ tcp, http });
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
  });
}

test("the commands of the pages about TLS and metrics work in the order they stand", {
  timeout: 120_000,
}, async () => {
  const [make = "", begin = "", use = ""] = commandsOf("tls.md");
  const made = run(make);
  assert.equal(made.status, 0, made.stderr);
  const { tcp, http } = await start(begin);
  const millrace = `${process.execPath} ${bin("cli/dist/bin/millrace.js")}`;
  const here = (code: string) =>
    code
      .replaceAll("127.0.0.1:3000", http)
      .replaceAll("npx millrace --tcp", `${millrace} --tcp-server-address ${tcp} --tcp`)
      .replaceAll("npx millrace", millrace);
  const used = run(here(use));
  assert.equal(used.status, 0, used.stderr);
  assert.match(used.stdout, /secret/);
  const distrusted = run(here(use.replaceAll(/--\S+-ca-file cert.pem/g, "")));
  assert.match(distrusted.stderr, /66 InvalidTlsCertificate/);

  const options = `--transport http --http-api-url https://${http} --http-tls-ca-file cert.pem`;
  const [scraper = ""] = commandsOf("metrics.md");
  const login = "export MILLRACE_USERNAME=iggy MILLRACE_PASSWORD=iggy\n";
  const token = run(login + scraper.replaceAll("npx millrace", `${millrace} ${options}`));
  assert.equal(token.status, 0, token.stderr);
  const scraped = run(
    `curl -sS --cacert cert.pem -H "Authorization: Bearer $(cat metrics.token)" https://${http}/metrics`,
  );
  assert.match(scraped.stdout, /^http_requests_total /m, scraped.stderr);
});
