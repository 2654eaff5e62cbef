import type { Readable, Writable } from "node:stream";
import type { Client, Observer } from "./connection/client.ts";
import type { ConnectionSettings, ServerTarget } from "./connection/server-target.ts";
import type { ExitCode } from "./exit-codes.ts";

/** A stream that may be a terminal. */
export interface TerminalLike {
  readonly isTTY?: boolean;
}

/** A connection that only asks whether the server is there. */
export interface Pinger {
  /** Resolves when the server has answered. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** What a server is started with. */
export interface ServerStart {
  readonly arguments: readonly string[];
  /** Its whole environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** How a process ended: its exit code, or the signal that ended it. */
export type ServerEnd = number | NodeJS.Signals;

/** A server that was started here and runs beside this command. */
export interface ServerChild {
  readonly pid: number;
  /** Resolves with true once it serves, with false when it ended before that. */
  readonly ready: Promise<boolean>;
  readonly ended: Promise<ServerEnd>;
  /** The last of what it wrote on stderr. */
  lastWords(): string;
  signal(signal: NodeJS.Signals): void;
}

/** Everything a command may touch outside itself; tests put fakes here. */
export interface World {
  readonly stdin: Readable & TerminalLike;
  readonly stdout: Writable & TerminalLike;
  readonly stderr: Writable & TerminalLike;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder that keeps what outlives a command; made when something is stored. */
  readonly home: string;
  /** Opens a session with the server. */
  readonly connect: (settings: ConnectionSettings) => Promise<Client>;
  /** Looks at a cluster without a session, which takes a majority of its nodes. */
  readonly observe: (settings: ConnectionSettings) => Promise<Observer>;
  /** Opens a connection without a session: `ping` needs no credentials. */
  readonly openPinger: (target: ServerTarget) => Promise<Pinger>;
  /** Runs a server here and answers its exit code. */
  readonly runServer: (serverArguments: readonly string[]) => Promise<ExitCode>;
  /** Starts a server here and leaves it running. */
  readonly startServer: (start: ServerStart) => ServerChild;
  /** Asks on the terminal without showing what is typed. Undefined when the person gave up. */
  readonly askSecret: (question: string) => Promise<string | undefined>;
  /** Calls back at the next Ctrl-C; the function it returns takes the listener away again. */
  readonly onInterrupt: (callback: () => void) => () => void;
  /** Calls back at each SIGINT, SIGTERM and SIGHUP; the function it returns takes the listener away again. */
  readonly onStop: (callback: () => void) => () => void;
  /** Milliseconds of a clock that only runs forward. */
  readonly elapsedMs: () => number;
}
