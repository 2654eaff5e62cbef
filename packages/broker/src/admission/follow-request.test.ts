import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode } from "@millrace/errors";
import type { Tracer } from "@millrace/platform";
import { encodeCreateStream, encodeGetClient, NO_OPTIONS } from "@millrace/protocol";
import { TestServer } from "../testing/test-server.ts";

/** A tracer that notes what it hears. */
function noting() {
  const heard: [name: string, status: number][] = [];
  const facts: Record<string, string | number>[] = [];
  const tracer: Tracer = {
    begin(name, given) {
      facts.push(given);
      return { end: (status) => void heard.push([name, status]) };
    },
  };
  return { heard, facts, tracer };
}

test("Each request is followed under its command's name and ends with the code of its answer.", async () => {
  const { heard, facts, tracer } = noting();
  const server = await TestServer.start({ tracer });
  const stranger = server.connect();
  await stranger.command("GetMe");
  const root = await server.login();
  const body = encodeCreateStream({ name: "orders", options: NO_OPTIONS });
  await root.command("CreateStream", body);
  await root.command("CreateStream", body);
  await root.command("GetClient", encodeGetClient({ clientId: 1 }));
  await stranger.command("CreateStream", body);
  assert.deepEqual(heard, [
    ["GetMe", ErrorCode.Unauthenticated],
    ["LoginRegister", 0],
    ["CreateStream", 0],
    ["CreateStream", ErrorCode.StreamNameAlreadyExists],
    ["GetClient", 0],
    ["CreateStream", ErrorCode.Unauthenticated],
  ]);
  assert.equal(facts[2]?.["millrace.body_length"], body.length);
  root.close();
  stranger.close();
  await server.stop();
});
