// Reads the topic back and compares it with the file: every line, once, in order within its key. Exits 0 or
// 1.
import { digestOfAll, KeyHashes } from "./key-hashes.ts";
import { connect, perSecond, STREAM, TOPIC } from "./server.ts";
import { keyOf, linesOfFile } from "./the-file.ts";

const expected = new KeyHashes();
for await (const line of linesOfFile()) expected.add(keyOf(line), line);

const client = await connect();
const topic = await client.getTopic(STREAM, TOPIC);
const stored = Number(topic?.messagesCount ?? 0n);

const started = performance.now();
const found = new KeyHashes();
const partitionsOfKey = new Map<string, Set<number>>();
if (stored > 0) {
  const consumer = client.consumer({
    stream: STREAM,
    topic: TOPIC,
    consumer: "check",
    startAt: "first",
    commit: "manual",
  });
  for await (const message of consumer) {
    const line = message.text();
    const key = keyOf(line);
    found.add(key, line);
    partitionsOfKey.set(key, (partitionsOfKey.get(key) ?? new Set()).add(message.partitionId));
    if (found.count === stored) break;
  }
}
const elapsedMs = performance.now() - started;
await client.close();

const want = expected.digests();
const got = found.digests();
const wrongKeys = [...new Set([...want.keys(), ...got.keys()])].filter(
  (key) => want.get(key) !== got.get(key),
);
const splitKeys = [...partitionsOfKey].filter(([, partitions]) => partitions.size > 1);
const isGood = found.count === expected.count && wrongKeys.length === 0 && splitKeys.length === 0;

console.log(
  `read     ${found.count} lines of ${got.size} keys; the file has ${expected.count} of ${want.size}`,
);
console.log(
  `rate     ${perSecond(found.count, elapsedMs)} lines/s, ${perSecond(found.bytes, elapsedMs)} bytes/s`,
);
console.log(`sha256   ${digestOfAll(got)}`);
console.log(`expected ${digestOfAll(want)}`);
if (wrongKeys.length > 0)
  console.log(`differ   ${wrongKeys.length} keys, for example ${wrongKeys.slice(0, 5).join(" ")}`);
if (splitKeys.length > 0) console.log(`split    ${splitKeys.length} keys are in more than one partition`);
console.log(isGood ? "equal: every line arrived once, in order within its key" : "NOT equal");
process.exitCode = isGood ? 0 : 1;
