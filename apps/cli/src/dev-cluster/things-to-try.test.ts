import assert from "node:assert/strict";
import { test } from "node:test";
import { planNodes } from "./plan.ts";
import { thingsToTry } from "./things-to-try.ts";

const nodes = planNodes("/folder", [1, 2, 3, 4, 5, 6, 7, 8]);
const linesWith = (environment: Record<string, string>) =>
  thingsToTry({
    ...{ nodes, leader: "n0", pidOf: () => 4711, environment },
    folder: { path: "/folder", isKept: false },
  });
const commandsOf = (lines: readonly string[]) =>
  lines.flatMap((line) => /^ {2}((?:npx )?millrace) (?:stream|topic|message) /.exec(line)?.[1] ?? []);

test("what there is to try can be typed as the cluster was started: through npx or without it", () => {
  const five = (command: string) => Array.from({ length: 5 }, () => command);
  assert.deepEqual(commandsOf(linesWith({ npm_lifecycle_event: "npx" })), five("npx millrace"));
  assert.deepEqual(commandsOf(linesWith({})), five("millrace"));
});

test("the node to kill is the one that leads, and the address is that of another one", () => {
  const lines = linesWith({}).join("\n");
  assert.match(lines, /kill -9 4711 {3}# n0, which leads/);
  assert.match(lines, /MILLRACE_TCP_SERVER_ADDRESS=127\.0\.0\.1:5 /);
});
