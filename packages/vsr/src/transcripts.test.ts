import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { type Words, World } from "./transcript-world-fixture.test.ts";

// A transcript is commands, each followed by the exact trace it causes:
//
//   group replicas=3 depth=4 clients=8 [chunk=2]   (no `clients`: no client table)
//   0 request client=7 request=1 operation=160 body=a [session= user= checksum=]
//   0 written op=1 [checksum=]           the journal write of op 1 is done
//   0 persisted | 0 truncated | 0 read   the oldest persist-view, journal-truncate, journal-read is done
//   0 disk                               everything the disk was asked is done, in order, and what follows
//   0 applied op=1 reply=x
//   1 deliver from=0 | drop from=0 | repeat from=0   the oldest message of that link; `repeat`: the last one
//   0 compact op=4                       the journal starts after op 4 from now on
//   0 installed from=1                   the state of replica 1 is in place
//   0 restart [upTo=3] [mayHaveLost] [wiped]   on what is left of what its disk has; what was on
//                                              its way to it is lost
//   any of them with count=50, deliver and drop with count=all
//
// The trace is indented; `=` ends it with the replica's op, commit and free pipeline, and with view/log view
// and status where these are not 0 and normal. A header is op:view. Lines with `#` are comments. To write the
// traces anew after a wanted change, and then review the difference:
//   MILLRACE_UPDATE_TRANSCRIPTS=1 node ../../tools/test.mjs transcripts

const folder = new URL("../testdata/", import.meta.url);

function replay(text: string): string {
  const world = new World();
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith(" ")) continue;
    lines.push(line);
    if (line === "" || line.startsWith("#")) continue;
    const [first = "", ...rest] = line.split(/\s+/);
    if (first === "group") world.start(wordsOf(rest));
    else lines.push(...world.run(Number(first), rest[0] ?? "", wordsOf(rest.slice(1))));
  }
  return lines.join("\n");
}

function wordsOf(words: readonly string[]): Words {
  return Object.fromEntries(words.map((word) => word.split("=") as [string, string | undefined]));
}

for (const name of readdirSync(folder).filter((file) => file.endsWith(".txt"))) {
  test(`the transcript ${name} is reproduced exactly`, () => {
    const url = new URL(name, folder);
    const expected = readFileSync(url, "utf8");
    const actual = replay(expected);
    if (process.env["MILLRACE_UPDATE_TRANSCRIPTS"] === "1") writeFileSync(url, actual);
    else assert.equal(actual, expected);
    assert.equal(replay(expected), actual, "the same commands give the same trace");
  });
}
