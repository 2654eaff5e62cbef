import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MillraceClient, type TopicOptions } from "@millrace/client";
import { freePort } from "@millrace/testkit";
import { builtServer } from "../server/built-server.ts";
import { ServerProcess } from "../server/server-process.ts";

/** What a scenario waits for comes within this time, on a slow machine too. Milliseconds. */
const PATIENCE_MS = 20_000;

/** Where the messages of a scenario are. */
export interface Place {
  readonly stream: string;
  readonly topic: string;
}

/** Where one fault scenario happens: a server of its own on a fresh folder, and its clients. */
export class Scene {
  readonly server: ServerProcess;
  /** Holds the server's folder `data` and its log. */
  readonly folder: string;
  readonly #clients: MillraceClient[] = [];

  private constructor(server: ServerProcess, folder: string) {
    this.server = server;
    this.folder = folder;
  }

  /** @param settings  configuration of the server by variable */
  static async open(settings: Readonly<Record<string, string>>): Promise<Scene> {
    const folder = mkdtempSync(join(tmpdir(), "millrace-scenario-"));
    const server = new ServerProcess({ entry: builtServer(), folder, port: await freePort(), settings });
    await server.start();
    return new Scene(server, folder);
  }

  /** Another client, logged in as root; the scene closes it. */
  async connect(): Promise<MillraceClient> {
    const target = `iggy://iggy:iggy@${this.server.address}?reconnection_interval=20ms`;
    const client = await MillraceClient.connect(target);
    this.#clients.push(client);
    return client;
  }

  /** A stream `s` with a topic `t`. */
  async createTopic(partitionsCount: number, options: TopicOptions = {}): Promise<Place> {
    const client = await this.connect();
    await client.createStream("s");
    await client.createTopic("s", { name: "t", partitionsCount, ...options });
    await client.close();
    return { stream: "s", topic: "t" };
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#clients.map((client) => client.close()));
    await this.server.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * A test of a fault scenario.
 *
 * @param title     begins with the scenario's number; `docs/fault-scenarios.md` names it
 * @param settings  configuration of the server by variable
 */
export function scenario(
  title: string,
  settings: Readonly<Record<string, string>>,
  run: (scene: Scene) => Promise<void>,
): void {
  test(title, async () => {
    const scene = await Scene.open(settings);
    try {
      await run(scene);
    } finally {
      await scene.close();
    }
  });
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Waits for something, and fails when it takes too long. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  patienceMs: number = PATIENCE_MS,
): Promise<void> {
  const endMs = performance.now() + patienceMs;
  while (!(await condition())) {
    assert.ok(performance.now() < endMs, `in time: ${what}`);
    await pause(10);
  }
}
