/** What a traced call worked on: a file of a partition, or a connection. */
export interface TracedCall {
  readonly name: string;
  /** Path of the file or description of the socket, as strace shows it with `-yy`. */
  readonly target: string;
  /** Arguments as text; contents are left out by `-s 0`. */
  readonly args: string;
}

/** A call began, or ended with a result; a call that nothing came between does both at once. */
export interface TracedEvent {
  readonly kind: "began" | "ended";
  readonly call: TracedCall;
  /** Only when it ended: what it returned. */
  readonly result: number;
}

const WHOLE = /^(\d+)\s+(\w+)\(\d+<(.*?)>(?:, (.*))?\)\s+= (-?\d+)/;
const UNFINISHED = /^(\d+)\s+(\w+)\(\d+<(.*?)>(?:, (.*?))?\s*<unfinished \.\.\.>/;
const RESUMED = /^(\d+)\s+<\.\.\. (\w+) resumed>.*\)\s+= (-?\d+)/;

/**
 * Reads the output of `strace -f -yy -s 0` in order. Lines about anything but a call on a file or a socket
 * are
 * passed. (A socket's description holds `->`, so a target ends at the first `>` that a comma, a bracket or a
 * space follows.)
 */
export function* systemCalls(lines: Iterable<string>): Generator<TracedEvent> {
  const open = new Map<string, TracedCall>();
  for (const raw of lines) {
    const line = raw.replaceAll("->", "→");
    const whole = WHOLE.exec(line);
    if (whole !== null) {
      const call = callOf(whole);
      yield { kind: "began", call, result: 0 };
      yield { kind: "ended", call, result: Number(whole[5]) };
      continue;
    }
    const unfinished = UNFINISHED.exec(line);
    if (unfinished !== null) {
      const call = callOf(unfinished);
      open.set(unfinished[1] ?? "", call);
      yield { kind: "began", call, result: 0 };
      continue;
    }
    const resumed = RESUMED.exec(line);
    const call = open.get(resumed?.[1] ?? "");
    if (resumed === null || call === undefined || call.name !== resumed[2]) continue;
    open.delete(resumed[1] ?? "");
    yield { kind: "ended", call, result: Number(resumed[3]) };
  }
}

function callOf(match: RegExpExecArray): TracedCall {
  return { name: match[2] ?? "", target: match[3] ?? "", args: match[4] ?? "" };
}
