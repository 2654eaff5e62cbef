import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { freePort } from "@millrace/testkit";
import { spawnServer, stopChild } from "../child-process.ts";
import { makeDataFolder } from "../millrace-target.ts";
import { NatsReplies } from "./nats-replies.ts";
import { PipelinedPeer } from "./pipelined-peer.ts";
import { RespReplies, respCommand } from "./resp-replies.ts";

/** A running peer with a place to put messages, and the request that puts one there. */
export interface Peer {
  readonly pid: number;
  readonly connection: PipelinedPeer;
  readonly request: Buffer;
  /** Empties the place between two runs. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

const FOLDERS = ["/usr/bin", "/usr/sbin", "/usr/local/bin"];

/** Path of a peer's program; undefined when it is not on this machine. */
export function programOf(name: string): string | undefined {
  return FOLDERS.map((folder) => `${folder}/${name}`).find((path) => existsSync(path));
}

/** Installs the packages of that name with `apt-get`; needs root. What fails shows as the program missing. */
export function installPeers(names: readonly string[]): void {
  if (process.getuid?.() !== 0 || programOf("apt-get") === undefined) return;
  try {
    execFileSync("apt-get", ["install", "-y", "--no-install-recommends", ...names], { stdio: "ignore" });
  } catch {
    console.log(`apt-get could not install ${names.join(", ")}`);
  }
}

/** A Redis server with an append-only file; messages go to a stream by XADD. */
export async function startRedis(
  program: string,
  appendfsync: "everysec" | "always",
  payload: Uint8Array,
): Promise<Peer> {
  const [folder, port] = [await makeDataFolder(), await freePort()];
  const options = { port, dir: folder, bind: "127.0.0.1", appendonly: "yes", appendfsync, save: "" };
  const child = spawnServer(
    program,
    Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
  );
  child.stdout?.resume();
  const connection = await PipelinedPeer.open(port, () => new RespReplies());
  return {
    pid: child.pid ?? 0,
    connection,
    request: respCommand("XADD", "bench", "*", "m", payload),
    clear: () => connection.call(respCommand("DEL", "bench")),
    stop: async () => {
      connection.close();
      await stopChild(child);
      await rm(folder, { recursive: true });
    },
  };
}

const INBOX = "_INBOX.bench";
const STREAM = {
  name: "bench",
  subjects: ["bench.t"],
  storage: "file",
  retention: "limits",
  num_replicas: 1,
};

/** A NATS server with JetStream on files; messages have a reply subject and are confirmed one by one. */
export async function startJetStream(program: string, payload: Uint8Array): Promise<Peer> {
  const [folder, port] = [await makeDataFolder(), await freePort()];
  const child = spawnServer(program, [
    "-js",
    "-sd",
    folder,
    "-a",
    "127.0.0.1",
    "-p",
    String(port),
    "-l",
    `${folder}/log`,
  ]);
  child.stdout?.resume();
  const connection = await PipelinedPeer.open(
    port,
    (socket) => new NatsReplies(() => socket.write("PONG\r\n")),
  );
  const greeting = `CONNECT {"verbose":false,"pedantic":false,"lang":"bench","version":"1"}\r\nSUB ${INBOX} 1\r\n`;
  const ask = (api: string, body: string) => publish(`$JS.API.STREAM.${api}.bench`, Buffer.from(body));
  await connection.call(Buffer.concat([Buffer.from(greeting), ask("CREATE", JSON.stringify(STREAM))]));
  return {
    pid: child.pid ?? 0,
    connection,
    request: publish("bench.t", payload),
    clear: () => connection.call(ask("PURGE", "")),
    stop: async () => {
      connection.close();
      await stopChild(child);
      await rm(folder, { recursive: true });
    },
  };
}

function publish(subject: string, payload: Uint8Array): Buffer {
  const line = Buffer.from(`PUB ${subject} ${INBOX} ${payload.length}\r\n`);
  return Buffer.concat([line, payload, Buffer.from("\r\n")]);
}
