import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MillraceClient } from "@millrace/client";
import { freePort } from "@millrace/testkit";
import { asViolation } from "../oracle/violation.ts";
import { builtServer } from "../server/built-server.ts";
import { ServerProcess } from "../server/server-process.ts";
import { checkWriteOrder } from "./write-order.ts";

/** Batches per topic. */
const BATCHES = 200;
const CALLS = "pwrite64,pwritev,pwritev2,fdatasync,fsync,write,writev,sendmsg,sendto";
const PLAIN = { folder: "/topics/0/", isSynced: false };
const SYNCED = { folder: "/topics/1/", isSynced: true };

/**
 * Traces the system calls of a server (Linux, `strace`) while a client sends one batch after the other, and
 * checks that no confirmation leaves before what it promises: both writes, and on a `persisted` topic both
 * datasyncs. Ends the process: 0 when that held for every batch.
 */
export async function trace(): Promise<never> {
  if (spawnSync("strace", ["-V"]).status !== 0) {
    console.log("strace is not installed; it comes with the package strace of the distribution.");
    process.exit(1);
  }
  const folder = mkdtempSync(join(tmpdir(), "millrace-trace-"));
  const output = join(folder, "calls.txt");
  const server = new ServerProcess({
    entry: builtServer(),
    folder,
    port: await freePort(),
    // -D: the server stays our child, so signals reach it.
    runner: ["strace", "-D", "-f", "-yy", "-s", "0", "-qq", "-e", `trace=${CALLS}`, "-o", output],
  });
  process.on("exit", () => server.killNow());
  const isGood = await sendAndCheck(server, output).catch((error: unknown) => {
    const { kind, message } = asViolation(error);
    console.log(`VIOLATION (${kind}): ${message}\ntrace: ${output}`);
    return false;
  });
  if (isGood) rmSync(folder, { recursive: true, force: true });
  process.exit(isGood ? 0 : 1);
}

async function sendAndCheck(server: ServerProcess, output: string): Promise<boolean> {
  await server.start();
  const client = await MillraceClient.connect(`iggy://iggy:iggy@${server.address}`);
  await client.createStream("traced");
  await client.createTopic("traced", { name: "replicated", partitionsCount: 1 });
  const options = { durability: "persisted" };
  await client.createTopic("traced", { name: "persisted", partitionsCount: 1, options });
  for (const topic of ["replicated", "persisted"]) {
    for (let at = 0; at < BATCHES; at += 1) {
      const messages = [{ payload: `message ${at}` }];
      await client.sendMessages({ stream: "traced", topic, partitioning: { partition: 0 }, messages });
    }
  }
  await client.close();
  await server.stop();
  const counts = checkWriteOrder(readFileSync(output, "utf8").split("\n"), [PLAIN, SYNCED]);
  const seen = [counts.get(PLAIN), counts.get(SYNCED)];
  console.log(`${seen[0]} confirmations behind both writes, ${seen[1]} behind both writes and datasyncs`);
  return seen.every((count) => count === BATCHES);
}
