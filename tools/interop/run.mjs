#!/usr/bin/env node
// Runs the official clients of Apache Iggy, unmodified, against the built server, each against a fresh one:
// `npm run interop -- [judge ...]`, by default those of a push. A client that cannot be had fails.
import { once } from "node:events";
import { prepareCommandLine, prepareCommandLineWithHttps } from "./cli/prepare.mjs";
import { ClusterUnderTest, inCluster } from "./cluster-under-test.mjs";
import { prepareGo, prepareGoWithTls } from "./go/prepare.mjs";
import { prepareJava, prepareJavaWithTls } from "./java/prepare.mjs";
import { runJudge } from "./judge-process.mjs";
import { prepareNode, prepareNodeWithTls } from "./node/prepare.mjs";
import { preparePython, preparePythonWithTls } from "./python/prepare.mjs";
import { prepareRust, prepareRustWithTls } from "./rust/prepare.mjs";
import { ServerUnderTest } from "./server-under-test.mjs";

const judges = {
  python: preparePython,
  "python-tls": preparePythonWithTls,
  "python-cluster": inCluster(preparePython),
  cli: prepareCommandLine,
  "cli-https": prepareCommandLineWithHttps,
  "cli-cluster": inCluster(prepareCommandLine),
  go: prepareGo,
  "go-tls": prepareGoWithTls,
  "go-cluster": inCluster(prepareGo),
  node: prepareNode,
  "node-tls": prepareNodeWithTls,
  "node-cluster": inCluster(prepareNode),
  java: prepareJava,
  "java-tls": prepareJavaWithTls,
  "java-cluster": inCluster(prepareJava),
  rust: prepareRust,
  "rust-tls": prepareRustWithTls,
  "rust-cluster": inCluster(prepareRust),
};
const judgesOfAPush = ["python", "python-tls", "python-cluster", "cli", "cli-https"];
const totals = { passed: 0, failed: 0 };

/** Prints the line of one case and counts it. `reason` says why it failed; without one it passed. */
function report(judge, title, reason) {
  if (reason === undefined) totals.passed += 1;
  else totals.failed += 1;
  const line = reason === undefined ? `ok      ${judge}: ${title}` : `FAILED  ${judge}: ${title}: ${reason}`;
  console.log(line.replaceAll("\n", "\n        "));
}

/** One judge from the install of its client to the orderly stop of its server. */
async function judge(name) {
  let program;
  try {
    program = await judges[name]();
  } catch (error) {
    report(name, "the official client can be brought", error.message);
    return;
  }
  const Server = program.isClustered ? ClusterUnderTest : ServerUnderTest;
  const server = new Server(program.serverEnvironment);
  const failedBefore = totals.failed;
  try {
    await server.start();
    await runJudge(program, server, (title, reason) => report(name, title, reason));
    const ending = await server.stop();
    report(name, "the server stops in order", ending === "exit code 0" ? undefined : ending);
  } catch (error) {
    report(name, "the server runs", error.message);
  } finally {
    server.end(totals.failed > failedBefore);
    program.cleanUp?.();
  }
}

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(judges, name));
if (unknown.length > 0) {
  console.error(
    `Unknown judge: ${unknown.join(", ")}. Usage: npm run interop -- [${Object.keys(judges).join("] [")}]`,
  );
  process.exit(2);
}
for (const name of asked.length > 0 ? asked : judgesOfAPush) await judge(name);
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
if (process.stdout.writableNeedDrain) await once(process.stdout, "drain");
process.exit(totals.failed === 0 ? 0 : 1);
