// Streams the file into a topic: one message a line, placed by the country in the line.
import { basename } from "node:path";
import type { Message } from "@millrace/client";
import { digestOfAll, KeyHashes } from "./key-hashes.ts";
import { connect, perSecond, STREAM, TOPIC } from "./server.ts";
import { FILE, keyOf, linesOfFile } from "./the-file.ts";

const PARTITIONS = 4;
/** Lines handed over at once; the producer makes its own batches of them. */
const PORTION = 1_000;

const client = await connect();
if ((await client.getStream(STREAM)) === undefined) await client.createStream(STREAM);
if ((await client.getTopic(STREAM, TOPIC)) !== undefined) await client.deleteTopic(STREAM, TOPIC);
await client.createTopic(STREAM, { name: TOPIC, partitionsCount: PARTITIONS });

const started = performance.now();
const producer = client.producer({ stream: STREAM, topic: TOPIC });
const hashes = new KeyHashes();
let portion: Message[] = [];
for await (const line of linesOfFile()) {
  const key = keyOf(line);
  hashes.add(key, line);
  portion.push({ key, payload: line });
  if (portion.length < PORTION) continue;
  // Waits only while the producer's buffer is full.
  await producer.enqueue(portion);
  portion = [];
}
if (portion.length > 0) await producer.enqueue(portion);
// Resolves when the server has confirmed every line, rejects with the first error.
await producer.close();
const elapsedMs = performance.now() - started;
await client.close();

const digests = hashes.digests();
console.log(`sent     ${basename(FILE)}`);
console.log(`lines    ${hashes.count} of ${digests.size} keys into ${PARTITIONS} partitions`);
console.log(
  `rate     ${perSecond(hashes.count, elapsedMs)} lines/s, ${perSecond(hashes.bytes, elapsedMs)} bytes/s`,
);
console.log(`sha256   ${digestOfAll(digests)}`);
