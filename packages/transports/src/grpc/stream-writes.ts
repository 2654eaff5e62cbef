import type { Writable } from "node:stream";

/** Writes messages to a gRPC stream in order; `done` is called once, when the last one was taken. */
export function writeAll(
  stream: Writable,
  messages: readonly Uint8Array[],
  done: (error?: unknown) => void,
): void {
  const last = messages.length - 1;
  if (last < 0) return void setImmediate(done);
  for (let index = 0; index < last; index++) stream.write(messages[index]);
  stream.write(messages[last], done);
}
