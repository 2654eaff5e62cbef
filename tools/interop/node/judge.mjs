// Drives a Millrace server with the official Node client: `judge.mjs CLIENT_MODULE HOST:PORT`.
// See ../judge-process.mjs for the lines it prints.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { catalogCases } from "./catalog-cases.mjs";
import { clusterCases } from "./cluster-cases.mjs";
import { groupCases } from "./group-cases.mjs";
import { messageCases } from "./message-cases.mjs";
import { restartCases } from "./restart-cases.mjs";
import { shapeCases } from "./shape-cases.mjs";
import { userCases } from "./user-cases.mjs";

const [clientModule, address] = process.argv.slice(2);
const sdk = await import(pathToFileURL(clientModule).href);
/** A module of the client that its front door does not show. */
const inside = (path) => import(pathToFileURL(join(dirname(clientModule), path)).href);
const authorityFile = process.env.JUDGE_CA_FILE;
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const clients = [];
/** Comes back by itself after a lost connection. */
const patient = { enabled: true, interval: 200, maxRetries: 100 };

/** A client with one connection; it logs in, as root unless told otherwise, with its first call. */
function newClient(credentials = { username: "iggy", password: "iggy" }, at = address, reconnect = patient) {
  const [host, port] = at.split(":");
  const plain = { transport: "TCP", options: { host, port: Number(port) } };
  const encrypted = () => ({
    transport: "TLS",
    options: { host: "localhost", port: Number(port), ca: readFileSync(authorityFile) },
  });
  const way = authorityFile === undefined ? plain : encrypted();
  const client = new sdk.SingleClient({
    ...way,
    credentials,
    reconnect,
  });
  clients.push(client);
  return client;
}

/** Has something done to the server, such as `restart` or `kill-leader`, and waits until it is. */
async function order(word) {
  console.log(word);
  await answers.next();
}

const world = {
  sdk,
  inside,
  address,
  newClient,
  root: newClient(),
  /** Has the server killed and started again on the same port and data. */
  restartServer: () => order("restart"),
  order,
};

const casesOfOneServer = {
  ...catalogCases,
  ...messageCases,
  ...userCases,
  ...groupCases,
  ...(authorityFile === undefined ? shapeCases : {}),
  ...restartCases,
};
const cases = process.env.JUDGE_CLUSTER === undefined ? casesOfOneServer : clusterCases;
for (const [title, run] of Object.entries(cases)) {
  try {
    await run(world);
    console.log(`ok ${title}`);
  } catch (error) {
    console.log(`FAILED ${title}: ${error.message}`.replaceAll("\n", "\\n"));
  }
}
console.log(`done ${Object.keys(cases).length}`);
for (const client of clients) await client.destroy().catch(() => {});
process.exit(0);
