import { CodedError, ErrorCode } from "@millrace/errors";

/**
 * Checks a path of a `Disk`: names joined by `/`, relative, nothing that leads out of the root. The empty
 * path is the root.
 *
 * @returns the names, in order
 * @throws CodedError `InvalidArgument` for an absolute path, an empty name, `.`, `..`, a backslash or a NUL
 */
export function diskPathNames(path: string): readonly string[] {
  if (path === "") return [];
  const names = path.split("/");
  if (names.every(isPlainName)) return names;
  throw new CodedError(
    ErrorCode.InvalidArgument,
    `The path ${JSON.stringify(path)} is not a plain relative path.`,
    {
      details: { path },
    },
  );
}

function isPlainName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !name.includes("\\") && !name.includes("\0");
}

/** The path of the directory that holds `path`; the empty path for a name right below the root. */
export function parentDiskPath(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}
