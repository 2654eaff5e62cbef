import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { ClientTable } from "./client-table/client-table.ts";
import type { Input } from "./input.ts";
import type { ReplicaMessage } from "./messages/replica-message.ts";
import type { Output } from "./output.ts";
import type { PrepareFields } from "./prepare.ts";
import { Replica } from "./replica.ts";

// A transcript is commands, each followed by the exact trace it causes:
//
//   group replicas=3 depth=4 clients=8        (no `clients`: no client table)
//   0 request client=7 request=1 operation=160 body=a [session= user= checksum=]
//   0 written op=1 [checksum=]                the journal write of op 1 is done
//   0 applied op=1 reply=x
//   1 deliver from=0 | drop from=0 | repeat from=0    the oldest message of that link; `repeat`: the last one
//   again 0 tick [count=50]
//
// The trace is indented; `=` ends it with the replica's op, commit and free pipeline. Lines with `#` are
// comments. To write the traces anew after a wanted change, and then review the difference:
//   MILLRACE_UPDATE_TRANSCRIPTS=1 node ../../tools/test.mjs transcripts

const folder = new URL("../testdata/", import.meta.url);

type Words = Readonly<Record<string, string>>;

class World {
  replicas: Replica[] = [];
  /** Undelivered messages by "from>to", and the last one that was taken off each link. */
  readonly links = new Map<string, ReplicaMessage[]>();
  readonly last = new Map<string, ReplicaMessage>();
  /** Checksum of each journal write by "replica:op". */
  readonly writes = new Map<string, bigint>();

  start(words: Words): void {
    const replicaCount = Number(words["replicas"]);
    this.replicas = Array.from({ length: replicaCount }, (_, replica) => {
      const capacity = words["clients"];
      return new Replica({
        replica,
        replicaCount,
        cluster: 0n,
        prepareQueueDepth: Number(words["depth"]),
        recovered: { view: 0, logView: 0, op: 0, commit: 0, checksum: 0n, isNew: true },
        checksumOf,
        ...(capacity === undefined ? {} : { clientTable: new ClientTable({ capacity: Number(capacity) }) }),
      });
    });
  }

  run(replica: number, verb: string, words: Words): string[] {
    const count = Number(words["count"] ?? 1);
    const trace: string[] = [];
    for (let turn = 0; turn < count; turn += 1) {
      const input = this.input(replica, verb, words);
      const outputs = input === undefined ? [] : (this.replicas[replica] as Replica).step(input);
      for (const output of outputs) trace.push(this.perform(replica, output));
    }
    const { op, commit, pipelineFree } = this.replicas[replica] as Replica;
    return [...trace, `= op=${op} commit=${commit} free=${pipelineFree}`].map((line) => `    ${line}`);
  }

  input(replica: number, verb: string, words: Words): Input | undefined {
    const op = Number(words["op"]);
    switch (verb) {
      case "request":
        return { kind: "request", request: requestOf(words) };
      case "written": {
        const given = words["checksum"];
        const checksum = given === undefined ? (this.writes.get(`${replica}:${op}`) ?? 0n) : BigInt(given);
        return { kind: "journal-written", op, checksum };
      }
      case "applied":
        return { kind: "applied", op, reply: new TextEncoder().encode(words["reply"]) };
      case "tick":
        return { kind: "tick" };
      default:
        return this.message(verb, `${words["from"]}>${replica}`);
    }
  }

  message(verb: string, link: string): Input | undefined {
    const message = verb === "repeat" ? this.last.get(link) : this.links.get(link)?.shift();
    assert.ok(message !== undefined, `there is a message on ${link}`);
    this.last.set(link, message);
    assert.ok(["deliver", "drop", "repeat"].includes(verb), `${verb} is a command`);
    return verb === "drop" ? undefined : { kind: "message", from: Number(link.split(">")[0]), message };
  }

  perform(replica: number, output: Output): string {
    if (output.kind === "journal-write") {
      this.writes.set(`${replica}:${output.prepare.op}`, output.prepare.checksum);
    } else if (output.kind === "send") {
      const link = `${replica}>${output.to}`;
      this.links.set(link, [...(this.links.get(link) ?? []), output.message]);
    }
    return lineOf(output);
  }
}

function replay(text: string): string {
  const world = new World();
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith(" ")) continue;
    lines.push(line);
    if (line === "" || line.startsWith("#")) continue;
    const [first = "", ...rest] = line.split(/\s+/);
    if (first === "group") world.start(wordsOf(rest));
    else lines.push(...world.run(Number(first), rest[0] ?? "", wordsOf(rest.slice(1))));
  }
  return lines.join("\n");
}

function wordsOf(words: readonly string[]): Words {
  return Object.fromEntries(words.map((word) => word.split("=") as [string, string]));
}

function requestOf(words: Words) {
  return {
    client: BigInt(words["client"] ?? 0),
    session: Number(words["session"] ?? 0),
    request: BigInt(words["request"] ?? 0),
    operation: Number(words["operation"]),
    user: Number(words["user"] ?? 0),
    timestamp: 1000,
    body: words["body"] ?? "",
    bodyChecksum: BigInt(words["checksum"] ?? 0),
  };
}

/** Small enough to read, different for every field. */
function checksumOf(fields: PrepareFields): bigint {
  const { view, op, parent, client, session, request, operation, user, timestamp, bodyChecksum } = fields;
  let sum = 17n;
  for (const part of [view, op, parent, client, session, request, operation, user, timestamp, bodyChecksum]) {
    sum = (sum * 31n + BigInt(part)) & 0xffffn;
  }
  return sum;
}

function lineOf(output: Output): string {
  switch (output.kind) {
    case "send":
      return `send to=${output.to} ${messageLine(output.message)}`;
    case "journal-write": {
      const { op, view, parent, checksum, client, request, operation, body, commit } = output.prepare;
      const chain = `op=${op} view=${view} commit=${commit} parent=${parent} checksum=${checksum}`;
      return `journal-write ${chain} client=${client} request=${request} operation=${operation} body=${body}`;
    }
    case "apply":
      return `apply op=${output.prepare.op} body=${output.prepare.body}`;
    case "reply":
    case "replay": {
      const { kind, client, request, op, view, commit, operation, body } = output;
      const at = `op=${op} view=${view} commit=${commit} operation=${operation}`;
      return `${kind} client=${client} request=${request} ${at} body=${new TextDecoder().decode(body)}`;
    }
    case "reject":
      return `reject code=${output.code} client=${output.client} request=${output.request}`;
    case "evict":
      return `evict reason=${output.reason} client=${output.client}`;
    case "drop":
      return `drop reason=${output.reason} client=${output.client} request=${output.request}`;
    case "persist-view":
      return `persist-view view=${output.view} logView=${output.logView}`;
    default:
      return output.kind;
  }
}

function messageLine(message: ReplicaMessage): string {
  if (message.kind === "prepare") return `prepare op=${message.prepare.op} commit=${message.prepare.commit}`;
  if (message.kind === "prepareOk") return `prepareOk op=${message.op} replica=${message.replica}`;
  return message.kind === "commit" ? `commit commit=${message.commit}` : message.kind;
}

for (const name of readdirSync(folder).filter((file) => file.endsWith(".txt"))) {
  test(`the transcript ${name} is reproduced exactly`, () => {
    const url = new URL(name, folder);
    const expected = readFileSync(url, "utf8");
    const actual = replay(expected);
    if (process.env["MILLRACE_UPDATE_TRANSCRIPTS"] === "1") writeFileSync(url, actual);
    else assert.equal(actual, expected);
    assert.equal(replay(expected), actual, "the same commands give the same trace");
  });
}
