import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { tableRows } from "./iggy-command.mjs";

/** The others miss the leader after two seconds; each command waits some seconds for a leader itself. */
const goesOnMaxMs = 30_000;
const pauseMs = 200;

/** Sends texts, one command each, and answers those that were acknowledged. A failed one is not repeated. */
async function sendSome(iggy, texts) {
  const acknowledged = [];
  const endMs = Date.now() + goesOnMaxMs;
  for (const text of texts) {
    const { code } = await iggy.run(["message", "send", "--partition-id", "0", "shop", "orders", text]);
    if (code === 0) acknowledged.push(text);
    else await sleep(pauseMs);
    if (Date.now() > endMs) break;
  }
  return acknowledged;
}

async function textsOf(iggy) {
  const printed = await iggy.do("message", "poll", "--first", "-m", "1000", "shop", "orders", "0");
  return tableRows(printed)
    .slice(1)
    .map((row) => row.at(-1))
    .filter((text) => text !== "");
}

const numbered = (name) => Array.from({ length: 12 }, (_, at) => `${name}-${at}`);

/** A cluster of three nodes, asked through one that does not lead. Each case: `(iggy, { order }) => Promise`. */
export const clusterCases = {
  "the roster names three nodes and one healthy leader": async (iggy) => {
    const rows = tableRows(await iggy.do("cluster", "metadata")).slice(1);
    assert.equal(rows.length, 3);
    assert.equal(rows.filter((row) => row.some((cell) => cell.toLowerCase() === "leader")).length, 1);
  },

  "what is sent through a node that does not lead is there, and an offset is stored and read": async (
    iggy,
  ) => {
    await iggy.do("stream", "create", "shop");
    await iggy.do("topic", "create", "shop", "orders", "1", "none");
    assert.equal((await sendSome(iggy, numbered("first"))).length, 12);
    assert.deepEqual(await textsOf(iggy), numbered("first"));
    await iggy.do("consumer-offset", "set", "somebody", "shop", "orders", "0", "7");
    assert.match(await iggy.do("consumer-offset", "get", "somebody", "shop", "orders", "0"), /\b7\b/);
    const next = ["message", "poll", "--consumer", "somebody", "--next", "-m", "2", "--auto-commit"];
    await iggy.do(...next, "shop", "orders", "0");
    assert.match(await iggy.do("consumer-offset", "get", "somebody", "shop", "orders", "0"), /\b9\b/);
  },

  "while the leader is killed no acknowledged message is lost, and commands go on": async (
    iggy,
    { order },
  ) => {
    const killing = order("kill-leader");
    const during = await sendSome(iggy, numbered("during"));
    await killing;
    const after = await sendSome(iggy, numbered("after"));
    assert.equal(after.length, 12, "once the next leader is there everything is taken");
    const all = await textsOf(iggy);
    const acknowledged = [...numbered("first"), ...during, ...after];
    assert.deepEqual(
      all.filter((text) => acknowledged.includes(text)),
      acknowledged,
    );
    await order("start-killed");
    assert.match(await iggy.do("consumer-offset", "get", "somebody", "shop", "orders", "0"), /\b9\b/);
  },
};
