import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { Client, Observer } from "./connection/client.ts";
import { type CredentialOptions, hasTypedCredentials } from "./connection/credential-options.ts";
import { type CredentialOrder, findCredentials } from "./connection/credentials.ts";
import { type ServerTarget, serverTarget } from "./connection/server-target.ts";
import type { DebugLog } from "./debug-log.ts";
import type { ExitCode } from "./exit-codes.ts";
import { failureOf } from "./failures/failure.ts";
import type { Target } from "./failures/next-step.ts";
import { reportText } from "./failures/report.ts";
import { createOutput, type Output } from "./output/output.ts";
import { printable } from "./output/printable.ts";
import type { OutputMode } from "./output/render.ts";
import type { Result } from "./output/result.ts";
import { connectWithLogin } from "./stored-tokens/connect-with-login.ts";
import type { World } from "./world.ts";

/** The options that stand before the command, and `--output`, which may stand on either side. */
export interface GlobalOptions extends CredentialOptions {
  readonly output?: OutputMode;
  readonly listMode?: OutputMode;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly debug?: string;
}

/** One run of one command, as its handler sees it. */
export interface Invocation {
  readonly world: World;
  readonly output: Output;
  readonly options: GlobalOptions;
  /** The server of the command line, the active context and the environment; looked up on first use. */
  readonly server: () => ServerTarget;
  /**
   * The session with the server: opened on first use, closed when the handler is done.
   * @param order  which credentials come first; by default the stored login
   */
  readonly client: (order?: CredentialOrder) => Promise<Client>;
  /** Looks at the cluster without a session; closed with it. */
  readonly observer: () => Promise<Observer>;
  /** One more session beside that of `client`, for a command that needs several; closed with it. */
  readonly newClient: () => Promise<Client>;
}

/** What a command does. It answers a result, or undefined when it printed while it ran, or an exit code. */
export type Handler<Values extends unknown[]> = (
  invocation: Invocation,
  ...values: Values
) => Promise<Result | ExitCode | undefined>;

/** Makes commander's action of a handler; commander adds the command itself as the last argument. */
export type Run = <Values extends unknown[]>(
  handler: Handler<Values>,
) => (...values: [...Values, Command]) => Promise<void>;

/** Where a run leaves its exit code. */
export interface Outcome {
  exitCode: ExitCode;
}

/**
 * The `Run` of one program: handlers run in `world`, their failures are printed, their exit code lands in
 * `outcome`.
 */
export function createRun(world: World, debug: (options: GlobalOptions) => DebugLog, outcome: Outcome): Run {
  return <Values extends unknown[]>(handler: Handler<Values>) =>
    async (...values: [...Values, Command]) => {
      const command = values[values.length - 1] as Command;
      const options: GlobalOptions = { ...command.optsWithGlobals(), ...command.opts() };
      const mode = options.output ?? options.listMode ?? "table";
      const log = debug(options);
      const session = createSession(world, options, log, pathOf(command).join(" "));
      const output = createOutput(world, { mode, quiet: options.quiet === true });
      try {
        announce(command, options, output, log);
        const own = values.slice(0, -1) as unknown as Values;
        const { server, client, newClient, observer } = session;
        const given = { world, output, options, server, client, newClient, observer };
        const answer = await handler(given, ...own);
        if (typeof answer === "number") outcome.exitCode = answer;
        else if (answer !== undefined) output.show(answer);
      } catch (error) {
        log.error(error);
        const failure = failureOf(error, { ...targetOf(command), ...session.reached() });
        world.stderr.write(reportText(failure, mode));
        outcome.exitCode = failure.exitCode;
      } finally {
        await session.close();
      }
    };
}

/** Longer than this nobody waits for a good-bye: the server ends the session when the connection is gone. */
const CLOSE_TIMEOUT_MS = 2_000;

/** Two lines of a terminal: a message to send may be megabytes. */
const ANNOUNCEMENT_MAX = 160;

/**
 * Says what is about to happen, on stderr so that stdout stays parseable, and only where a person looks on.
 */
function announce(command: Command, options: GlobalOptions, output: Output, log: DebugLog): void {
  const text = printable(`Executing ${[...pathOf(command), ...shownArguments(command)].join(" ")}`).slice(
    0,
    ANNOUNCEMENT_MAX,
  );
  log.note(text);
  const watched = output.mode === "table" && output.isTerminal && options.quiet !== true;
  if (options.verbose === true || watched) output.remark(text);
}

/** Arguments that are passwords, by their names in the command tree. */
const SECRET_ARGUMENTS = new Set(["password", "current", "new"]);

/** The arguments as typed; neither the terminal nor the debug log shows a password. */
function shownArguments(command: Command): string[] {
  return command.args.map((typed, index) =>
    SECRET_ARGUMENTS.has(command.registeredArguments[index]?.name() ?? "") ? "***" : typed,
  );
}

/** Names of the groups and of the command, as typed, without the program's own. */
function pathOf(command: Command): string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}

const LOGIN_COUNTS =
  "The stored login is used, not the credentials before the command; end it with: millrace logout";

function targetOf(command: Command): Target {
  const named = command.registeredArguments.map((argument, index) => [argument.name(), command.args[index]]);
  const things = Object.fromEntries(named.filter(([, typed]) => typed !== undefined));
  const { set } = command.opts<Pick<Target, "set">>();
  return { ...things, ...(set === undefined ? {} : { set }), command: pathOf(command).join(" ") };
}

function targetFor(command: string, target: ServerTarget): ServerTarget {
  if (!OF_ONE_NODE.has(command)) return target;
  return { ...target, client: { ...target.client, followLeader: false } };
}

/** Commands that ask a node for its own files: in a cluster they stay on the one that is named. */
const OF_ONE_NODE: ReadonlySet<string> = new Set(["topic verify", "partition repair"]);

function createSession(world: World, options: GlobalOptions, log: DebugLog, command: string) {
  let target: ServerTarget | undefined;
  let opening: Promise<Client> | undefined;
  const server = () => {
    target ??= targetFor(command, serverTarget({ ...options }, world));
    return target;
  };
  const connect = async (order?: CredentialOrder) => {
    const to = server();
    const credentials = await findCredentials(to, world, order);
    const who = "token" in credentials ? "the owner of a token" : credentials.username;
    log.note(`Connecting to ${to.address} as ${who}`);
    if (!("isStoredLogin" in credentials)) return world.connect({ target: to, credentials });
    if (hasTypedCredentials(options)) world.stderr.write(`${LOGIN_COUNTS}\n`);
    return connectWithLogin(world, { target: to, credentials });
  };
  const opened: Promise<Pick<Client, "close">>[] = [];
  const open = (order?: CredentialOrder) => {
    const one = connect(order);
    opened.push(one);
    return one;
  };
  return {
    server,
    /** How the server is reached, once it was looked up. */
    reached: () => (target?.client.transport === undefined ? {} : { transport: target.client.transport }),
    client: (order?: CredentialOrder) => {
      opening ??= open(order);
      return opening;
    },
    newClient: () => open(),
    observer: () => {
      const one = findCredentials(server(), world).then((credentials) => {
        log.note(`Looking at the cluster through ${server().address} without a login`);
        return world.observe({ target: server(), credentials });
      });
      opened.push(one);
      return one;
    },
    close: async () => {
      const clients = (await Promise.allSettled(opened)).flatMap((one) =>
        one.status === "fulfilled" ? [one.value] : [],
      );
      if (clients.length === 0) return;
      // What the command did is done and reported; a connection that cannot part politely changes nothing.
      const closing = clients.map((client) => client.close().catch((error: unknown) => log.error(error)));
      await Promise.race([Promise.all(closing), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    },
  };
}
