import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { HeaderValue, Message, TypedValue } from "@millrace/client";
import { decodeTypedFields, fieldKindName, fieldValue, type TypedField } from "@millrace/framing";
import { UsageError } from "../../failures/usage-error.ts";
import { linesOf } from "../../formats/lines.ts";
import { decodeFileMessages, type FileMessage } from "../../formats/message-file.ts";
import { createProgress } from "../../output/progress.ts";
import type { World } from "../../world.ts";

/** Messages that belong together, and lines that were left out because they were empty. */
export interface Portion {
  readonly messages: readonly Message[];
  readonly skipped: number;
}

/** Where messages come from. */
export interface MessageSource {
  readonly portions: AsyncIterable<Portion>;
  /** Told how many messages the server has confirmed. */
  readonly onConfirmed: (messages: number) => void;
  readonly onEnd: () => void;
}

/** Messages of a portion of a file of messages; lines come in portions of one chunk of their stream. */
const PORTION_COUNT = 1_000;
const CHUNK_BYTES = 262_144;

const silent = { onConfirmed: () => {}, onEnd: () => {} };

/** The payloads of the command line. */
export function argumentSource(payloads: readonly string[]): MessageSource {
  return { ...silent, portions: once({ messages: payloads.map((payload) => ({ payload })), skipped: 0 }) };
}

/** The lines of standard input. */
export function stdinSource(stdin: Readable): MessageSource {
  return { ...silent, portions: portionsOfLines(stdin) };
}

/**
 * The lines of a file, with progress on stderr unless there is no world to show it to.
 * @throws the system's error when the file cannot be opened
 */
export async function linesFileSource(path: string, world: World | undefined): Promise<MessageSource> {
  const totalBytes = await lengthOfFile(path);
  const stream = createReadStream(path, { highWaterMark: CHUNK_BYTES });
  const portions = portionsOfLines(stream);
  if (world === undefined) return { ...silent, portions };
  const progress = createProgress({ stream: world.stderr, totalBytes, elapsedMs: world.elapsedMs });
  return {
    portions,
    onConfirmed: (messages) => progress.update(stream.bytesRead, messages),
    onEnd: () => progress.finish(),
  };
}

/**
 * The messages of a file that `message poll --output-file` wrote, with their ids, headers and origin times.
 * @throws UsageError when the file is not of that kind; the system's error when it cannot be read
 */
export async function fileSource(path: string): Promise<MessageSource> {
  await lengthOfFile(path);
  const bytes = await readFile(path);
  return { ...silent, portions: portionsOfFile(bytes) };
}

/** Length of a file. The system opens a folder like one, and names it no more when reading fails then. */
async function lengthOfFile(path: string): Promise<number> {
  const found = await stat(path);
  if (!found.isDirectory()) return found.size;
  throw Object.assign(new Error(`${path} is a folder.`), { code: "EISDIR", syscall: "open", path });
}

async function* once(portion: Portion): AsyncGenerator<Portion> {
  yield portion;
}

async function* portionsOfLines(stream: Readable): AsyncGenerator<Portion> {
  for await (const lines of linesOf(stream)) {
    const full = lines.filter((line) => line.length > 0);
    yield { messages: full.map((payload) => ({ payload })), skipped: lines.length - full.length };
  }
}

async function* portionsOfFile(bytes: Uint8Array): AsyncGenerator<Portion> {
  let messages: Message[] = [];
  for (const message of decodeFileMessages(bytes)) {
    messages.push(messageOf(message));
    if (messages.length < PORTION_COUNT) continue;
    yield { messages, skipped: 0 };
    messages = [];
  }
  if (messages.length > 0) yield { messages, skipped: 0 };
}

function messageOf({ id, originTimestamp, payload, userHeaders }: FileMessage): Message {
  return { id, payload, originTimestamp, headers: headersOf(userHeaders) };
}

function headersOf(block: Uint8Array): ReadonlyMap<TypedValue, HeaderValue> {
  return new Map(decodeTypedFields(block).map(([key, value]) => [typedValue(key), typedValue(value)]));
}

function typedValue(field: TypedField): TypedValue {
  const kind = fieldKindName(field.kind);
  if (kind === undefined)
    throw new UsageError(`The input file has a header of the unknown kind ${field.kind}.`);
  return { kind, value: fieldValue(field) };
}
