import type { GetSnapshot, SnapshotType } from "@millrace/protocol";
import type { Fields } from "../json/fields.ts";
import type { JsonValue } from "../json/write-json.ts";

const COMPRESSIONS: Readonly<Record<string, GetSnapshot["compression"]>> = {
  Stored: "stored",
  Deflated: "deflated",
  Bzip2: "bzip2",
  Zstd: "zstd",
  Lzma: "lzma",
  Xz: "xz",
};

const SNAPSHOT_TYPES: Readonly<Record<string, SnapshotType>> = {
  FilesystemOverview: "filesystemOverview",
  ProcessList: "processList",
  ResourceUsage: "resourceUsage",
  Test: "test",
  ServerLogs: "serverLogs",
  ServerConfig: "serverConfig",
  All: "all",
};

/** The body of a request for a snapshot. @throws HttpError 422 */
export function readSnapshot(fields: Fields): GetSnapshot {
  const compression = fields.choice("compression", COMPRESSIONS, "deflated");
  const list = fields.has("snapshot_types") ? fields.list("snapshot_types") : ["All"];
  const types = list.map((word) => {
    const type =
      typeof word === "string" && Object.hasOwn(SNAPSHOT_TYPES, word) ? SNAPSHOT_TYPES[word] : undefined;
    const words = Object.keys(SNAPSHOT_TYPES).join(", ");
    return type ?? fields.fail("snapshot_types", `Each is one of these: ${words}.`);
  });
  if (types.length > 255) fields.fail("snapshot_types", "At most 255 are asked for at once.");
  return { compression, types };
}

/** The counterpart of `readSnapshot`. */
export function snapshotRequestJson({ compression, types }: GetSnapshot): JsonValue {
  return {
    compression: wordOf(COMPRESSIONS, compression),
    snapshot_types: types.map((type) => wordOf(SNAPSHOT_TYPES, type)),
  };
}

function wordOf(words: Readonly<Record<string, string>>, name: string): string {
  return Object.keys(words).find((word) => words[word] === name) ?? name;
}
