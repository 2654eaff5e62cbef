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
    const { error, status, stderr } = spawnSync(shell, ["-n"], { input: script, encoding: "utf8" });
    if (error === undefined) assert.equal(status, 0, stderr);
  }
  assert.equal((await runFake(["--generate", "cmd"])).exitCode, 2);
});
