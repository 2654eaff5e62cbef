import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { type BrowserContext, chromium } from "playwright-core";
import { RealServer } from "./testing/real-server.test.ts";

/** Where a Linux distribution's package puts Chromium. */
const CHROMIUM = "/usr/bin/chromium";

/** In CI the browser has to be there; elsewhere the test says why it did not run. */
const skip = existsSync(CHROMIUM) || process.env["CI"] === "true" ? false : `there is no ${CHROMIUM}`;

const CHROMIUM_FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

/** What a page does: it produces with keys, consumes all of it, and says what it saw. */
const IN_THE_PAGE = async (address: string): Promise<unknown> => {
  const { MillraceClient } = (globalThis as unknown as { millrace: typeof import("./index.ts") }).millrace;
  const client = await MillraceClient.connect({ address, username: "iggy", password: "iggy" });
  await client.createStream("page");
  await client.createTopic("page", { name: "t", partitionsCount: 2 });
  const producer = client.producer({ stream: "page", topic: "t" });
  await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      producer.send({ payload: { json: { index } }, key: `key-${index}`, headers: { lang: "de" } }),
    ),
  );
  await producer.close();
  const seen = new Set<number>();
  const consumer = client.consumer({ stream: "page", topic: "t", consumer: "reader" });
  await consumer.run(async (message) => {
    seen.add((message.json() as { index: number }).index);
    if (seen.size === 200) await consumer.close();
  });
  const [big] = await client.sendMessages({
    stream: "page",
    topic: "t",
    messages: [{ payload: new Uint8Array(3_000_000).fill(7) }],
  });
  const { transport } = await client.getMe();
  await client.close();
  return { seen: seen.size, transport, isConfirmed: big !== undefined };
};

async function bundled(): Promise<{ text: string; inputs: string[] }> {
  const result = await build({
    entryPoints: [fileURLToPath(new URL("./index.ts", import.meta.url))],
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    globalName: "millrace",
    conditions: ["millrace-source"],
    logLevel: "silent",
    minify: true,
    metafile: true,
  });
  assert.deepEqual(result.warnings, []);
  return { text: result.outputFiles[0]?.text ?? "", inputs: Object.keys(result.metafile.inputs) };
}

describe("the client in a browser", () => {
  let bundle = "";
  let inputs: string[] = [];
  before(async () => {
    ({ text: bundle, inputs } = await bundled());
  });

  test("is bundled without anything of Node, ws or TCP, in less than 250 kB", () => {
    assert.ok(!/["']node:|\brequire\(|AsyncLocalStorage/.test(bundle));
    const unwanted = /\/tcp\/|default-platform|\/(?:server|node|grpc)\/|node_modules\/(?!.*xxhash-wasm)/;
    assert.deepEqual(
      inputs.filter((path) => unwanted.test(path)),
      [],
    );
    assert.ok(bundle.length < 250_000, `${bundle.length} bytes`);
  });

  describe("Chromium", { skip }, () => {
    const server = new RealServer();
    const folder = mkdtempSync(join(tmpdir(), "millrace-chromium-"));
    let browser: BrowserContext | undefined;

    before(async () => {
      assert.ok(existsSync(CHROMIUM), `Chromium is missing: install the package chromium (${CHROMIUM}).`);
      await server.start();
      browser = await chromium.launchPersistentContext(folder, {
        executablePath: CHROMIUM,
        args: CHROMIUM_FLAGS,
      });
    });
    after(async () => {
      await browser?.close();
      await server.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    test("produces and consumes against the real server", async () => {
      const page = await browser?.newPage();
      await page?.addScriptTag({ content: bundle });
      const result = await page?.evaluate(IN_THE_PAGE, server.webSocketAddress);
      assert.deepEqual(result, { seen: 200, transport: "websocket", isConfirmed: true });
    });

    test("is told what a browser cannot do, and that nobody listens", async () => {
      const page = await browser?.newPage();
      await page?.addScriptTag({ content: bundle });
      const codes = await page?.evaluate(async () => {
        const { MillraceClient, isCodedError } = (
          globalThis as unknown as { millrace: typeof import("./index.ts") }
        ).millrace;
        const who = { username: "u", password: "p", address: "127.0.0.1:1" };
        const attempts = [{ transport: "tcp" as const }, { tls: { caFile: "a" } }, {}];
        return Promise.all(
          attempts.map((attempt) =>
            MillraceClient.connect({ ...who, ...attempt }).then(
              () => 0,
              (error) => (isCodedError(error) ? error.code : String(error)),
            ),
          ),
        );
      });
      const { ErrorCode } = await import("@millrace/errors");
      const { FeatureUnavailable, CannotEstablishConnection } = ErrorCode;
      assert.deepEqual(codes, [FeatureUnavailable, FeatureUnavailable, CannotEstablishConnection]);
    });
  });
});
