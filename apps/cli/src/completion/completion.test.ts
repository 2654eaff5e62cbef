import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runFake } from "../fakes/fake-world.ts";
import { createProgram } from "../program.ts";
import { flattened, treeOf } from "./command-tree.ts";
import { SHELLS } from "./completion-script.ts";

const tree = treeOf(createProgram(() => async () => {}));

async function scriptOf(shell: string): Promise<string> {
  const ran = await runFake(["--generate", shell], { environment: {} });
  assert.equal(ran.exitCode, 0, ran.stderr);
  return ran.stdout;
}

/** What bash offers for the last of these words, once it has loaded the script. */
async function bashOffers(...words: readonly string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "millrace-completion-"));
  try {
    const file = join(folder, "completion.bash");
    writeFileSync(file, await scriptOf("bash"));
    const ask = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _millrace; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const out = execFileSync("bash", ["-c", ask, "bash", file, "millrace", ...words], {
      encoding: "utf8",
      cwd: folder,
    });
    return out.split("\n").filter((line) => line !== "");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("bash offers commands, options and fixed values where they may stand", async () => {
  assert.deepEqual(await bashOffers("str"), ["stream"]);
  assert.deepEqual(await bashOffers("stream", "c"), ["create"]);
  assert.deepEqual(await bashOffers("s", "cre"), ["create"], "below the short name of a group too");
  assert.deepEqual(
    await bashOffers("--tcp-server-address", "stream", "top"),
    ["topic"],
    "a value is no command",
  );
  assert.deepEqual(await bashOffers("stream", "list", "--output", ""), ["table", "list", "json"]);
  assert.deepEqual(await bashOffers("--transport", "t"), ["tcp"]);
  assert.deepEqual(await bashOffers("options", "st"), ["stream"]);
  assert.deepEqual(await bashOffers("message", "poll", "a", "b", "0", "--fir"), ["--first"]);
  assert.deepEqual(await bashOffers("message", "send", "--lines", "comp"), ["completion.bash"], "files");
  assert.deepEqual(await bashOffers("nothing", "x"), []);
});

test("bash offers every command and every option of the tree", async () => {
  const script = await scriptOf("bash");
  const ask = flattened(tree).map(
    ({ place }) =>
      `COMP_WORDS=(${place} ''); COMP_CWORD=${place.split(" ").length}; _millrace; echo "\${COMPREPLY[*]}"`,
  );
  const out = execFileSync("bash", ["-c", `${script}\n${ask.join("\n")}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
  for (const [index, { place, children, options }] of flattened(tree).entries()) {
    const offered = out[index]?.split(" ") ?? [];
    for (const child of children)
      assert.ok(offered.includes(child.names[0] ?? ""), `${place}: ${child.place}`);
    for (const flag of options.flatMap(({ flags }) => flags))
      assert.ok(offered.includes(flag), `${place}: ${flag}`);
  }
});

test("every shell's script is made of the whole tree, and a shell that is here accepts it", async () => {
  for (const shell of SHELLS) {
    const script = await scriptOf(shell);
    for (const { place, options } of flattened(tree)) {
      assert.ok(script.includes(`'${place}`) || place === "millrace", `${shell}: ${place}`);
      const longs = options.flatMap(({ flags }) => flags).filter((flag) => flag.startsWith("--"));
      for (const flag of longs)
        assert.ok(script.includes(shell === "fish" ? ` -l ${flag.slice(2)}` : flag), flag);
    }
    // PowerShell and elvish have no such mode: what elvish offers is asked below.
    if (shell === "powershell" || shell === "elvish") continue;
    const { error, status, stderr } = spawnSync(shell, ["-n"], { input: script, encoding: "utf8" });
    if (error === undefined) assert.equal(status, 0, stderr);
  }
  assert.equal((await runFake(["--generate", "cmd"])).exitCode, 2);
});

/** What an elvish that is here offers; undefined without one. The completer is called as its editor would. */
async function elvishOffers(...words: readonly string[]): Promise<string[] | undefined> {
  const script = (await scriptOf("elvish"))
    .replace("set edit:completion:arg-completer[millrace] =", "var complete~ =")
    .replace("edit:complete-filename $@words", "put FILES");
  const list = words.map((word) => `'${word}'`).join(" ");
  const asked = spawnSync("elvish", ["-c", `${script}\ncomplete millrace ${list} | each $echo~`], {
    encoding: "utf8",
  });
  if (asked.error !== undefined) return undefined;
  assert.equal(asked.status, 0, asked.stderr);
  return asked.stdout.split("\n").filter((line) => line !== "");
}

test("elvish offers what may stand at a place, where an elvish is installed", async (t) => {
  const below = await elvishOffers("s", "");
  if (below === undefined) return t.skip("no elvish here");
  assert.deepEqual(below.slice(0, 3), ["create", "get", "list"]);
  assert.deepEqual((await elvishOffers("--transport", ""))?.slice(0, 2), ["tcp", "ws"]);
  assert.ok((await elvishOffers("--tcp-server-address", "stream", ""))?.includes("topic"));
  assert.deepEqual(await elvishOffers("message", "send", "--lines", ""), ["FILES"]);
});

test("PowerShell's script keeps names apart that differ by case alone, and balances its brackets", async () => {
  const script = await scriptOf("powershell");
  const assigned = [...script.matchAll(/^ {4}\$table\['([^']+)'\] = /gm)].map(([, key]) => key);
  assert.ok(assigned.includes("millrace|stream") && assigned.includes("millrace stream|create"));
  for (const { place, options } of flattened(tree)) {
    for (const { flags, takesValue } of options)
      for (const flag of flags) assert.equal(assigned.includes(`${place}|${flag}`), takesValue, flag);
  }
  const code = script.replaceAll(/'[^']*'|#.*$/gm, "");
  for (const [open, close] of ["()", "{}", "[]"].map((pair) => [...pair] as [string, string])) {
    assert.equal(code.split(open).length, code.split(close).length, `${open} ${close}`);
  }
});
