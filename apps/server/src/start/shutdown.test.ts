import assert from "node:assert/strict";
import { test } from "node:test";
import type { Log } from "@millrace/platform";
import { exitOnBrokenInvariants } from "./shutdown.ts";

test("Who reads why a server stopped because of a mistake of its own reads what to do.", (t) => {
  const lines: { readonly text: string; readonly facts: unknown }[] = [];
  const log = { error: (text: string, facts: unknown) => lines.push({ text, facts }) } as unknown as Log;
  const codes: unknown[] = [];
  t.mock.method(process, "exit", (code: unknown) => codes.push(code));
  const events = ["uncaughtException", "unhandledRejection"] as const;
  const before = events.map((event) => process.listeners(event as "uncaughtException"));
  let flushes = 0;
  exitOnBrokenInvariants(log, () => {
    flushes += 1;
  });
  for (const [index, event] of events.entries()) {
    const added = process
      .listeners(event as "uncaughtException")
      .filter((listener) => !before[index]?.includes(listener));
    for (const listener of added) {
      listener(new Error("broken invariant: it holds"), "uncaughtException");
      process.removeListener(event, listener);
    }
  }
  assert.equal(lines.length, 2);
  assert.deepEqual([codes.length, flushes], [2, 2]);
  for (const { text, facts } of lines) {
    assert.match(text, /mistake of its own/);
    const { message, advice } = facts as { readonly message: string; readonly advice: string };
    assert.match(message, /it holds/);
    assert.match(advice, /Start it again.*report this line.*one node at a time/);
  }
});
