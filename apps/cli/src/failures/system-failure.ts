import { CodedError, ErrorCode } from "@millrace/errors";

/** What the system says of a file, in words, and what to do about it. */
const FILE_ERRORS: ReadonlyMap<string, readonly [what: string, next: string]> = new Map([
  ["ENOENT", ["does not exist", "Check the name, and the folder it is in: folders are not made."]],
  ["ENOTDIR", ["is below something that is no folder", "Check the name."]],
  ["EISDIR", ["is a folder", "Name a file."]],
  ["EEXIST", ["exists already", "Name another file, or move that one away."]],
  ["EACCES", ["may not be used by you", "Check the rights of the file and of its folder."]],
  ["EPERM", ["may not be used by you", "Check the rights of the file and of its folder."]],
  ["EROFS", ["is on a file system that takes no writes", "Name a file elsewhere."]],
  ["ENOSPC", ["cannot grow: its disk is full", "Free some space on this machine."]],
]);

const FILE_NEXT = "Check the file and the disk it is on.";

/** A failed system call as an error with a code and advice; undefined for anything else. */
export function codedFromSystem(error: unknown): CodedError | undefined {
  const system = error as NodeJS.ErrnoException | null;
  if (typeof system?.syscall !== "string") return undefined;
  const { syscall, path } = system;
  // What to do about it depends on the transport, which the code's own advice knows.
  if (syscall === "connect")
    return new CodedError(ErrorCode.CannotEstablishConnection, system.message, { cause: error });
  const [what, next] = FILE_ERRORS.get(system.code ?? "") ?? [];
  const code = syscall === "write" ? ErrorCode.CannotWriteToFile : ErrorCode.CannotReadFile;
  const message = what === undefined || path === undefined ? system.message : `${path} ${what}.`;
  return coded(code, message, next ?? FILE_NEXT, error);
}

function coded(code: number, message: string, next: string, cause: unknown): CodedError {
  return new CodedError(code, message, { details: { next }, cause });
}
