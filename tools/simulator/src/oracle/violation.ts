/** What a violation is about. */
export type ViolationKind =
  /** What was acknowledged or committed is not there. */
  | "lost"
  /** Replicas hold different ops, messages or client tables at one place. */
  | "diverged"
  /** A message moved, or an offset was given twice. */
  | "offset"
  /** One request of a session was executed twice. */
  | "twice"
  | "stale-read"
  /** A view, log view or commit went back. */
  | "backwards"
  /** One view has two contents for one op. */
  | "two-primaries"
  /** A message left that the replica's disk does not stand behind. */
  | "not-durable"
  /** An op was committed that too few journals have held. */
  | "quorum"
  | "bound"
  /** A replica found a fact that must hold broken, or something else was thrown. */
  | "assert"
  | "no-progress";

/** A promise that a run found broken. */
export class Violation extends Error {
  readonly kind: ViolationKind;

  constructor(kind: ViolationKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "Violation";
    this.kind = kind;
  }
}

/** Any error as a violation, with the tick around which it happened. */
export function asViolation(error: unknown, ticks: number): Violation {
  const at = `after tick ${ticks}`;
  if (error instanceof Violation)
    return new Violation(error.kind, `${at}: ${error.message}`, { cause: error });
  const what = error instanceof Error ? `${error.message}${firstPlace(error)}` : String(error);
  return new Violation("assert", `${at}: ${what}`, { cause: error });
}

/** Where a broken invariant was found: the first frame behind `assert` itself. */
function firstPlace(error: Error): string {
  const frame = error.stack?.split("\n").find((line) => line.includes("    at ") && !line.includes("assert"));
  const place = frame?.match(/([\w-]+\.ts:\d+)/)?.[1];
  return place === undefined ? "" : ` (${place})`;
}
