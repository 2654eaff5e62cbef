/** Facts that go with a log line: ids, counts, paths. Never payloads or secrets. */
export type LogFacts = Readonly<Record<string, unknown>>;

/** Where a part says what happened. Never throws; a line that cannot be written is dropped and counted. */
export interface Log {
  debug(message: string, facts?: LogFacts): void;
  info(message: string, facts?: LogFacts): void;
  warn(message: string, facts?: LogFacts): void;
  error(message: string, facts?: LogFacts): void;
  /** A log whose lines carry `facts` in addition. */
  child(facts: LogFacts): Log;
}

/** A log that drops every line. */
export const silentLog: Log = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLog,
};
