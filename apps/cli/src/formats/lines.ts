import type { Readable } from "node:stream";

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

/** Longest line kept in memory: the largest payload of a message, 64,000,000 bytes. */
export const LINE_BYTES_MAX = 64_000_000;

/** A line was longer than a message may be. */
export class LineTooLongError extends Error {
  /** Counted from 1. */
  readonly lineNumber: number;

  constructor(lineNumber: number) {
    super(`Line ${lineNumber} is longer than ${LINE_BYTES_MAX} bytes, the most a message can carry`);
    this.name = "LineTooLongError";
    this.lineNumber = lineNumber;
  }
}

/**
 * Cuts a stream of bytes into lines without their line ends (`\n` or `\r\n`); the last may lack one.
 *
 * Yields one array of lines for each chunk of the stream, so that a long file costs one await a chunk and not
 * one a line. Lines are copies or views of chunks that nobody writes any more. Empty lines are kept.
 * @throws LineTooLongError past 64,000,000 bytes
 */
export async function* linesOf(source: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array[]> {
  let rest: Uint8Array[] = [];
  let restLength = 0;
  let count = 0;
  for await (const chunk of source) {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    const lines: Uint8Array[] = [];
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      lines.push(trimReturn(join(rest, bytes.subarray(start, end))));
      rest = [];
      start = end + 1;
    }
    if (start > 0) restLength = 0;
    if (start < bytes.length) rest.push(bytes.subarray(start));
    restLength += bytes.length - start;
    count += lines.length;
    if (restLength > LINE_BYTES_MAX) throw new LineTooLongError(count + 1);
    if (lines.length > 0) yield lines;
  }
  if (restLength > 0) yield [trimReturn(join(rest, new Uint8Array(0)))];
}

function join(parts: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  return parts.length === 0 ? last : Buffer.concat([...parts, last]);
}

function trimReturn(line: Uint8Array): Uint8Array {
  return line[line.length - 1] === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}

/**
 * Reads one line and puts the bytes after it back, so that whoever reads the stream next starts behind it.
 * Undefined when the stream ends before its first byte.
 */
export function readOneLine(stream: Readable): Promise<string | undefined> {
  const parts: Buffer[] = [];
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      stream.off("readable", onReadable).off("end", settle).off("error", settle);
      if (error !== undefined) reject(error);
      else resolve(parts.length === 0 ? undefined : textOf(parts));
    };
    const onReadable = () => {
      for (let chunk = readChunk(stream); chunk !== undefined; chunk = readChunk(stream)) {
        const end = chunk.indexOf(NEWLINE);
        parts.push(end < 0 ? chunk : chunk.subarray(0, end));
        if (end < 0) continue;
        // At once: a stream that has nothing left would otherwise end before the bytes are back.
        if (end + 1 < chunk.length) stream.unshift(chunk.subarray(end + 1));
        return settle();
      }
    };
    stream.on("readable", onReadable).on("end", settle).on("error", settle);
  });
}

function readChunk(stream: Readable): Buffer | undefined {
  const chunk = stream.read() as Buffer | string | null;
  return chunk === null ? undefined : Buffer.from(chunk);
}

function textOf(parts: readonly Buffer[]): string {
  return Buffer.concat(parts).toString("utf8").replace(/\r$/, "");
}
