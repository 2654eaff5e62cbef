import assert from "node:assert/strict";
import type { OnHandlerError } from "@millrace/client";
import { type Scene, scenario, until } from "./scene.ts";

scenario(
  "B-04: a handler that fails on the first message of a new group gets it again by a new member.",
  {},
  (scene) => failOnce(scene, "stop"),
);

scenario(
  "B-04: a handler that fails on the first message of a new group gets it again by retrying.",
  {},
  (scene) => failOnce(scene, { retry: { attempts: 3, delayMs: 1 } }),
);

async function failOnce(scene: Scene, onError: OnHandlerError): Promise<void> {
  const place = await scene.createTopic(1);
  const client = await scene.connect();
  const seen: string[] = [];
  let failures = 0;
  const handler = (message: { text(): string }) => {
    if (failures > 0) return void seen.push(message.text());
    failures += 1;
    throw new Error("the handler fails once");
  };
  const start = () => {
    const consumer = client.consumerGroup({ ...place, group: "new", startAt: "last" });
    const running = consumer.run(handler, { onError });
    running.catch(() => {});
    return { consumer, running };
  };
  let member = start();
  await until("the member has joined", () => member.consumer.partitions.length === 1);
  await client.sendMessages({ ...place, messages: [{ payload: "only" }] });
  if (onError === "stop") {
    await assert.rejects(member.running, /fails once/);
    member = start();
  }
  await until("the message is delivered again", () => seen.length > 0);
  await member.consumer.close();
  await member.running;
  assert.deepEqual([failures, seen], [1, ["only"]]);
}
