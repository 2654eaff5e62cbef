// Drives a Millrace server with the official command line: `judge.mjs IGGY_BINARY HOST:PORT`.
// See ../judge-process.mjs for the lines it prints.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { clusterCases } from "./cluster-cases.mjs";
import { groupCases } from "./group-cases.mjs";
import { IggyCommand } from "./iggy-command.mjs";
import { messageCases } from "./message-cases.mjs";
import { offsetCases } from "./offset-cases.mjs";
import { restartCases } from "./restart-cases.mjs";
import { streamCases } from "./stream-cases.mjs";
import { systemCases } from "./system-cases.mjs";
import { topicCases } from "./topic-cases.mjs";
import { httpsCases, transportCases } from "./transport-cases.mjs";
import { userCases } from "./user-cases.mjs";

const [binary, address] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "millrace-interop-iggy-"));
const iggy = new IggyCommand(binary, ["--tcp-server-address", address], home);
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Has something done to the server, such as `restart` or `kill-leader`, and waits until it is. */
async function order(word) {
  console.log(word);
  await answers.next();
}

/** Has the server killed and started again on the same port and data. */
const restartServer = () => order("restart");

const casesInClear = {
  ...systemCases,
  ...streamCases,
  ...topicCases,
  ...messageCases,
  ...offsetCases,
  ...userCases,
  ...groupCases,
  ...transportCases,
  ...restartCases,
};
const casesOfOneServer = process.env.JUDGE_CA_FILE === undefined ? casesInClear : httpsCases;
const cases = process.env.JUDGE_CLUSTER === undefined ? casesOfOneServer : clusterCases;
for (const [title, run] of Object.entries(cases)) {
  try {
    await run(iggy, { address, home, order, restartServer });
    console.log(`ok ${title}`);
  } catch (error) {
    console.log(`FAILED ${title}: ${error.message}`.replaceAll("\n", "\\n"));
  }
}
console.log(`done ${Object.keys(cases).length}`);
rmSync(home, { recursive: true, force: true });
process.exit(0);
