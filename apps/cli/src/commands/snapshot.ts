import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GetSnapshot } from "@millrace/client";
import { SnapshotCompressionCode, SnapshotTypeCode } from "@millrace/protocol";
import { Option } from "commander";
import { sizeText } from "../formats/size.ts";
import { type Field, properties } from "../output/result.ts";
import { type AddCommand, leaf } from "./command.ts";

interface Typed {
  readonly compression: GetSnapshot["compression"];
  readonly snapshotTypes: readonly string[];
  readonly outDir: string;
}

interface Saved {
  readonly file: string;
  readonly length: number;
}

const FIELDS: readonly Field<Saved>[] = [
  { name: "file", title: "Snapshot", value: ({ file }) => file },
  {
    name: "size_bytes",
    title: "Size",
    value: ({ length }) => length,
    text: ({ length }) => sizeText(length),
  },
];

/** Names on the command line, as the reference writes them, by names of the protocol. */
const TYPE_NAMES = new Map(
  (Object.keys(SnapshotTypeCode) as GetSnapshot["types"][number][]).map((type) => [
    type.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    type,
  ]),
);

/** `millrace snapshot`: diagnostics of the server as a ZIP file. */
export const addSnapshot: AddCommand = (parent, run) => {
  leaf(parent, { name: "snapshot", summary: "save diagnostics of the server as a ZIP file" })
    .addOption(
      new Option(
        "-c, --compression <type>",
        "how the file is compressed; servers refuse those they do not have",
      )
        .choices(Object.keys(SnapshotCompressionCode))
        .default("deflated"),
    )
    .addOption(
      new Option("-s, --snapshot-types <types...>", "parts, separated by spaces")
        .choices([...TYPE_NAMES.keys()])
        .default(["all"], "all"),
    )
    .option("-o, --out-dir <folder>", "where the file goes", ".")
    .action(
      run(async ({ client }, { compression, snapshotTypes, outDir }: Typed) => {
        const types = snapshotTypes.flatMap((name) => TYPE_NAMES.get(name) ?? []);
        const bytes = await (await client()).getSnapshot({ compression, types });
        const file = join(outDir, `snapshot_${stamp(new Date())}.zip`);
        writeFileSync(file, bytes, { flag: "wx", mode: 0o600 });
        return properties(FIELDS, { file, length: bytes.length });
      }),
    );
};

/** A moment as part of a file name, in UTC: `20260921_100000_123`. */
function stamp(moment: Date): string {
  return moment.toISOString().replaceAll(/[-:]/g, "").replace("T", "_").replace(".", "_").replace("Z", "");
}
