import type { Writable } from "node:stream";
import { sizeText } from "../formats/size.ts";
import type { TerminalLike } from "../world.ts";

/** How far a long send is. */
export interface Progress {
  /** Reports bytes read of the file and messages that the server has confirmed. */
  update(bytes: number, messages: number): void;
  /** Ends the line. */
  finish(): void;
}

/** What a progress is drawn on and from. */
export interface ProgressOptions {
  readonly stream: Writable & TerminalLike;
  readonly totalBytes: number;
  readonly elapsedMs: () => number;
}

/** A terminal is redrawn ten times a second at most; a log gets a line every five seconds. */
const REDRAW_MS = 100;
const LINE_MS = 5_000;
const BAR_LENGTH = 30;

/** A bar that redraws itself on a terminal, plain lines elsewhere; the last state is always shown. */
export function createProgress({ stream, totalBytes, elapsedMs }: ProgressOptions): Progress {
  const isTerminal = stream.isTTY === true;
  const started = elapsedMs();
  let shownAt = started;
  let last = { bytes: 0, messages: 0 };
  const show = () => {
    const text = progressText({ ...last, totalBytes, seconds: (elapsedMs() - started) / 1_000, isTerminal });
    stream.write(isTerminal ? `\r${text}\u001b[K` : `${text}\n`);
  };
  return {
    update: (bytes, messages) => {
      last = { bytes, messages };
      if (elapsedMs() - shownAt < (isTerminal ? REDRAW_MS : LINE_MS)) return;
      shownAt = elapsedMs();
      show();
    },
    finish: () => {
      show();
      if (isTerminal) stream.write("\n");
    },
  };
}

/** The state of a send on one line. */
export function progressText(state: {
  readonly bytes: number;
  readonly totalBytes: number;
  readonly messages: number;
  readonly seconds: number;
  readonly isTerminal: boolean;
}): string {
  const { bytes, totalBytes, messages, seconds } = state;
  const share = totalBytes === 0 ? 1 : Math.min(1, bytes / totalBytes);
  const filled = Math.round(share * BAR_LENGTH);
  const bar = state.isTerminal ? `[${"#".repeat(filled)}${"-".repeat(BAR_LENGTH - filled)}] ` : "";
  const rate = seconds > 0 ? Math.round(messages / seconds) : 0;
  const counts = `${messages.toLocaleString("en")} messages, ${sizeText(bytes)}`;
  return `${bar}${Math.floor(share * 100)} %, ${counts}, ${rate.toLocaleString("en")} messages/s`;
}
