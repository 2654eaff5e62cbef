import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { cleanEnvironment } from "./server-under-test.mjs";

/** All cases of one judge; the slowest takes about a minute on two busy cores. */
const judgeTimeoutMs = 6 * 60_000;

/**
 * Runs a judge against a server and reports its cases.
 *
 * The judge gets `host:port` as its last argument, the WebSocket listener's in JUDGE_WEBSOCKET_ADDRESS, that of
 * the HTTP API in INTEROP_HTTP_ADDRESS, and writes lines: `ok TITLE`, `FAILED TITLE: REASON` (line breaks in the
 * reason as `\n`), an order such as `restart` (the server is killed and started again; then the judge reads
 * `running`), and last `done COUNT`. A judge that ends without `done`, or counted others than came, failed.
 *
 * @param program  `{ program, args, env?, cwd? }`
 * @param server   a started `ServerUnderTest` or `ClusterUnderTest`, whose `orders` the judge may give
 * @param report   called as `report(title, reason?)` once per case
 */
export async function runJudge({ program, args, env, cwd }, server, report) {
  const child = spawn(program, [...args, server.address], {
    cwd,
    env: cleanEnvironment({
      JUDGE_WEBSOCKET_ADDRESS: server.webSocketAddress,
      INTEROP_HTTP_ADDRESS: server.httpAddress,
      ...env,
    }),
    stdio: ["pipe", "pipe", "inherit"],
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), judgeTimeoutMs);
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  const counted = await readCases(child, server, report);
  const ending = await ended;
  clearTimeout(timer);
  if (counted.announced !== counted.seen)
    report("the judge reaches its end", `${ending} after ${counted.seen} cases`);
}

async function readCases(child, server, report) {
  const counted = { seen: 0, announced: undefined };
  for await (const line of createInterface({ input: child.stdout })) {
    const [, word, rest] = /^(\S*) ?(.*)$/.exec(line);
    if (word === "ok" || word === "FAILED") {
      counted.seen += 1;
      const [, title, reason] = word === "ok" ? [line, rest] : /^(.*?): (.*)$/.exec(rest);
      report(title, reason?.replaceAll("\\n", "\n"));
    } else if (Object.hasOwn(server.orders, word)) {
      child.stdin.write(`${await server.orders[word]()}\n`);
    } else if (word === "done") counted.announced = Number(rest);
    else console.log(`        ${line}`);
  }
  return counted;
}
