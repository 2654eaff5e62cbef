import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  batchLengthOf,
  createChecksumKernel,
  encodeTypedFields,
  typedField,
  writeBatch,
} from "@millrace/framing";
import {
  decodePollMessagesReply,
  encodeCreateStream,
  encodeCreateTopic,
  encodePollMessages,
  encodeSendMetadata,
  NO_OPTIONS,
  toIdentifier,
} from "@millrace/protocol";
import { RawClient } from "./testing/raw-client.ts";
import { ServerProcess } from "./testing/server-process.ts";

const CANARY = "canary-of-the-mine";
const KEY = Buffer.alloc(32, 3).toString("base64");
const OTHER_KEY = Buffer.alloc(32, 4).toString("base64");
const target = { stream: toIdentifier(0), topic: toIdentifier(0) };

function environment(key: string | undefined) {
  return {
    MILLRACE_TCP_ADDRESS: "127.0.0.1:0",
    MILLRACE_LOGGING_LEVEL: "trace",
    MILLRACE_MEMORY_POOL_SIZE: "256 MiB",
    ...(key === undefined ? {} : { MILLRACE_ENCRYPTION_ENABLED: "true", MILLRACE_ENCRYPTION_KEY: key }),
  };
}

async function clientOf(port: number): Promise<RawClient> {
  const client = new RawClient(port);
  assert.equal((await client.login("iggy", "iggy")).code, 0);
  return client;
}

async function send(client: RawClient): Promise<void> {
  const kernel = createChecksumKernel({ memoryLength: 1_048_576, build: "typescript" });
  const { bytes, blocksStart } = kernel.memory;
  const userHeaders = encodeTypedFields([[typedField("string", "of"), typedField("string", CANARY)]]);
  const messages = [{ payload: Buffer.from(`${CANARY} sings`), userHeaders }];
  writeBatch(bytes, blocksStart, messages, 1);
  kernel.sealBatch(blocksStart, batchLengthOf(messages));
  const metadata = encodeSendMetadata({
    ...target,
    partitioning: { kind: "partition", partitionId: 0 },
    messagesCount: 1,
  });
  const batch = bytes.subarray(blocksStart, blocksStart + batchLengthOf(messages));
  assert.equal((await client.command("SendMessages", Buffer.concat([metadata, batch]))).code, 0);
}

async function poll(client: RawClient): Promise<string> {
  const body = encodePollMessages({
    ...target,
    consumer: { kind: "consumer", id: toIdentifier(1) },
    partitionId: 0,
    strategy: { kind: "first" },
    count: 10,
    autoCommit: false,
  });
  const { batches } = decodePollMessagesReply((await client.command("PollMessages", body)).payload);
  return Buffer.from(batches).toString("latin1");
}

async function assertNowhere(folder: string, text: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    assert.equal((await readFile(path)).indexOf(text), -1, `${path} holds ${text}`);
  }
}

test("A killed server leaves no message and no key in its files or its log, and only its key opens them.", async () => {
  const data = await mkdtemp(join(tmpdir(), "millrace-encryption-"));
  const start = (key: string | undefined) =>
    new ServerProcess(["--data", data, "--with-default-root-credentials"], environment(key));
  try {
    const first = start(KEY);
    const client = await clientOf(await first.port());
    const stream = encodeCreateStream({ name: "s", options: NO_OPTIONS });
    assert.equal((await client.command("CreateStream", stream)).code, 0);
    const topic = { stream: toIdentifier(0), name: "t", partitionsCount: 1, options: NO_OPTIONS };
    assert.equal((await client.command("CreateTopic", encodeCreateTopic(topic))).code, 0);
    await send(client);
    assert.match(await poll(client), /canary-of-the-mine sings/);
    first.signal("SIGKILL");
    await first.exit();
    const log = first.stdout + first.stderr;
    for (const secret of [CANARY, KEY, "\u0003".repeat(32)]) {
      assert.ok(!log.includes(secret));
      await assertNowhere(data, secret);
    }
    for (const [key, pattern] of [
      [OTHER_KEY, /is encrypted with another key than encryption\.key/],
      [undefined, /is encrypted\. Set encryption\.enabled to true/],
    ] as const) {
      const refused = start(key);
      assert.notEqual(await refused.exit(), 0);
      assert.match(refused.stderr, pattern);
      assert.ok(!refused.stderr.includes(OTHER_KEY));
    }
    const last = start(KEY);
    const reader = await clientOf(await last.port());
    assert.match(await poll(reader), /canary-of-the-mine sings/);
    reader.close();
    last.signal("SIGTERM");
    assert.equal(await last.exit(), 0);
    await assertNowhere(data, CANARY);
  } finally {
    await rm(data, { recursive: true, force: true });
  }
});
