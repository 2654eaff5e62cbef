// Drives a Millrace server with the official Node client: `judge.mjs CLIENT_MODULE HOST:PORT`.
// See ../judge-process.mjs for the lines it prints.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { catalogCases } from "./catalog-cases.mjs";
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

/** A client with one connection; it logs in, as root unless told otherwise, with its first call. */
function newClient(credentials = { username: "iggy", password: "iggy" }, at = address) {
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
    reconnect: { enabled: true, interval: 200, maxRetries: 100 },
  });
  clients.push(client);
  return client;
}

const world = {
  sdk,
  inside,
  address,
  newClient,
  root: newClient(),
  /** Has the server killed and started again on the same port and data. */
  async restartServer() {
    console.log("restart");
    await answers.next();
  },
};

const cases = {
  ...catalogCases,
  ...messageCases,
  ...userCases,
  ...groupCases,
  ...(authorityFile === undefined ? shapeCases : {}),
  ...restartCases,
};
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
