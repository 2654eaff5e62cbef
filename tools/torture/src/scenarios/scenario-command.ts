import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const PAGE = join("docs", "fault-scenarios.md");
const ROW = /^\| ([A-Z]-\d\d) \| ((?:packages|apps|tools)\/[^/]+)\/(\S+\.test\.ts) \|/gm;

/** Where tests of a scenario are: the workspace they run in, and their file there. */
interface ScenarioFile {
  readonly workspace: string;
  readonly file: string;
}

/**
 * Runs every test file that the page of fault scenarios names for the given numbers, at full size. Ends the
 * process with 0 when all of them passed.
 */
export function scenarioCommand(numbers: readonly string[]): never {
  const known = filesByNumber();
  const wanted = numbers.map((number) => number.toUpperCase());
  const unknown = wanted.filter((number) => !known.has(number));
  if (wanted.length === 0 || unknown.length > 0) {
    const what =
      wanted.length === 0
        ? "No number of a scenario is given"
        : `${PAGE} has no test of ${unknown.join(", ")}`;
    console.error(`${what}. It has: ${[...known.keys()].join(" ")}`);
    process.exit(2);
  }
  const files = new Map(wanted.flatMap((number) => known.get(number) ?? []).map((one) => [one.file, one]));
  const outcomes = [...files.values()].map(runWhole);
  process.exit(outcomes.every((code) => code === 0) ? 0 : 1);
}

function filesByNumber(): Map<string, ScenarioFile[]> {
  const page = readFileSync(join(ROOT, PAGE), "utf8");
  const files = new Map<string, ScenarioFile[]>();
  for (const [, number = "", workspace = "", file = ""] of page.matchAll(ROW)) {
    files.set(number, [...(files.get(number) ?? []), { workspace, file }]);
  }
  return files;
}

function runWhole({ workspace, file }: ScenarioFile): number {
  console.log(`\n${workspace}/${file}`);
  const { status } = spawnSync(process.execPath, [join(ROOT, "tools", "test.mjs"), file], {
    cwd: join(ROOT, workspace),
    stdio: "inherit",
    env: { ...process.env, MILLRACE_SCENARIO_SIZE: "whole" },
  });
  return status ?? 1;
}
