import { Readable, Writable } from "node:stream";
import { CodedError, ErrorCode } from "@millrace/errors";
import type { Client } from "../connection/client.ts";
import type { ConnectionSettings } from "../connection/server-target.ts";
import { ExitCode } from "../exit-codes.ts";
import { runCli } from "../run-cli.ts";
import type { World } from "../world.ts";

/** What a test may set about the world of a command. */
export interface FakeWorldOptions {
  readonly client?: Client;
  readonly connect?: World["connect"];
  /** Left out: the server tells nothing to whoever is not logged in. */
  readonly observe?: World["observe"];
  readonly openPinger?: World["openPinger"];
  readonly startServer?: World["startServer"];
  readonly stdin?: string | Readable;
  readonly stdinIsTerminal?: boolean;
  readonly isTerminal?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  readonly secret?: string;
  /** Folder of stored tokens; by default one that is not there. */
  readonly home?: string;
  /** Calls back when the command waits for Ctrl-C; the test presses it by calling what it is given. */
  readonly onListen?: (press: () => void) => void;
}

/** What a command did to its world. */
export interface Ran {
  readonly exitCode: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
  readonly settings: readonly ConnectionSettings[];
  readonly serverArguments: readonly (readonly string[])[];
}

const NO_HOME = "/nonexistent/millrace-home";
const CREDENTIALS = { MILLRACE_USERNAME: "iggy", MILLRACE_PASSWORD: "iggy" };

/** Runs a command line in a world of memory and answers what came of it. */
export async function runFake(args: readonly string[], options: FakeWorldOptions = {}): Promise<Ran> {
  const stdout = new TextSink(options.isTerminal === true);
  const stderr = new TextSink(options.isTerminal === true);
  const settings: ConnectionSettings[] = [];
  const serverArguments: (readonly string[])[] = [];
  const world: World = {
    stdin: stdinOf(options),
    stdout,
    stderr,
    environment: options.environment ?? CREDENTIALS,
    home: options.home ?? NO_HOME,
    connect: async (given) => {
      settings.push(given);
      return options.connect?.(given) ?? clientOf(options);
    },
    observe: async (given) => {
      if (options.observe !== undefined) return options.observe(given);
      throw new CodedError(ErrorCode.FeatureUnavailable, "Nothing is told without a login.");
    },
    openPinger:
      options.openPinger ?? (async () => ({ ping: () => clientOf(options).ping(), close: async () => {} })),
    runServer: async (given) => {
      serverArguments.push(given);
      return ExitCode.ok;
    },
    startServer: (start) => {
      if (options.startServer !== undefined) return options.startServer(start);
      throw new Error("this command line was not expected to start a server");
    },
    askSecret: async () => options.secret,
    onInterrupt: (callback) => {
      options.onListen?.(callback);
      return () => {};
    },
    onStop: (callback) => {
      options.onListen?.(callback);
      return () => {};
    },
    elapsedMs: () => performance.now(),
  };
  const exitCode = await runCli(args, world);
  return { exitCode, stdout: stdout.text, stderr: stderr.text, settings, serverArguments };
}

function stdinOf(options: FakeWorldOptions): World["stdin"] {
  const { stdin = "" } = options;
  const stream = typeof stdin === "string" ? Readable.from(stdin === "" ? [] : [Buffer.from(stdin)]) : stdin;
  return Object.assign(stream, { isTTY: options.stdinIsTerminal === true });
}

function clientOf(options: FakeWorldOptions): Client {
  if (options.client === undefined) throw new Error("this command line was not expected to reach a server");
  return options.client;
}

/** A stream that keeps what is written, as a terminal or as a pipe. */
class TextSink extends Writable {
  text = "";
  readonly isTTY: boolean;

  constructor(isTerminal: boolean) {
    super({ decodeStrings: false });
    this.isTTY = isTerminal;
  }

  override _write(chunk: string | Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}
