import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Client } from "../connection/client.ts";
import { BenchTopics } from "./bench-topics.ts";
import { planBench } from "./plan.ts";

const PLAN = planBench("balanced-producer", {
  messageSize: 1,
  messagesPerBatch: 1,
  batches: 1,
  warmUp: 0,
  streams: 3,
  topics: 1,
  inFlight: 1,
});

type Calls = Pick<Client, "createStream" | "createTopic" | "deleteStream">;

/** A server that has one stream already and notes what is deleted. */
function serverWith(taken: readonly string[], more: Partial<Calls> = {}) {
  const deleted: string[] = [];
  const client = {
    createStream: async (name: string) => {
      if (taken.includes(name)) throw new CodedError(ErrorCode.StreamNameAlreadyExists, `${name} is taken`);
    },
    createTopic: async () => {},
    deleteStream: async (stream: unknown) => {
      deleted.push(String(stream));
    },
    ...more,
  };
  return { deleted, client: client as unknown as Calls };
}

test("all that was made is deleted, and nothing else", async () => {
  const { client, deleted } = serverWith([]);
  const topics = new BenchTopics(client);
  const made = await topics.create(PLAN, "x");
  assert.deepEqual(
    made.map(({ stream }) => stream),
    ["bench-x-1", "bench-x-2", "bench-x-3"],
  );
  await topics.remove();
  assert.deepEqual(deleted, ["bench-x-1", "bench-x-2", "bench-x-3"]);
  assert.deepEqual(topics.left, []);
});

test("a stream of the same name that was there before stays", async () => {
  const { client, deleted } = serverWith(["bench-x-2"]);
  const topics = new BenchTopics(client);
  const isTaken = (error: unknown) => isCodedError(error, ErrorCode.StreamNameAlreadyExists);
  await assert.rejects(topics.create(PLAN, "x"), isTaken);
  await topics.remove();
  assert.deepEqual(deleted, ["bench-x-1"]);
});

test("a stream whose creation got no answer is deleted too, and one that is gone is no error", async () => {
  const timeout = new CodedError(ErrorCode.RequestTimeout, "no answer");
  const gone = new CodedError(ErrorCode.StreamNameNotFound, "gone");
  const { client } = serverWith([], {
    createStream: () => Promise.reject(timeout),
    deleteStream: () => Promise.reject(gone),
  });
  const topics = new BenchTopics(client);
  await assert.rejects(topics.create(PLAN, "x"), timeout);
  assert.deepEqual(topics.left, ["bench-x-1"]);
  await topics.remove();
  assert.deepEqual(topics.left, []);
});

test("a stream that cannot be deleted is still named afterwards", async () => {
  const refused = new CodedError(ErrorCode.Unauthorized, "not allowed");
  const { client } = serverWith([], {
    deleteStream: async (stream) => {
      if (stream === "bench-x-2") throw refused;
    },
  });
  const topics = new BenchTopics(client);
  await topics.create(PLAN, "x");
  await assert.rejects(topics.remove(), refused);
  assert.deepEqual(topics.left, ["bench-x-2"]);
});
