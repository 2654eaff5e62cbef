import { Command, CommanderError, Option } from "commander";
import { addBench } from "./commands/bench.ts";
import { addClient } from "./commands/client/group.ts";
import { addCluster } from "./commands/cluster/group.ts";
import { outputOption } from "./commands/command.ts";
import { addConsumerGroup } from "./commands/consumer-group/group.ts";
import { addConsumerOffset } from "./commands/consumer-offset/group.ts";
import { addContext } from "./commands/context/group.ts";
import { addLogin } from "./commands/login.ts";
import { addLogout } from "./commands/logout.ts";
import { addMe } from "./commands/me.ts";
import { addMessage } from "./commands/message/group.ts";
import { addOptions } from "./commands/options.ts";
import { addPartition } from "./commands/partition/group.ts";
import { addPat } from "./commands/pat/group.ts";
import { addPing } from "./commands/ping.ts";
import { addSegment } from "./commands/segment/group.ts";
import { addServer } from "./commands/server.ts";
import { addSession } from "./commands/session/group.ts";
import { addSnapshot } from "./commands/snapshot.ts";
import { addStats } from "./commands/stats.ts";
import { addStream } from "./commands/stream/group.ts";
import { addTopic } from "./commands/topic/group.ts";
import { addUser } from "./commands/user/group.ts";
import { completionScript, SHELLS, type Shell } from "./completion/completion-script.ts";
import { addConnectionOptions } from "./connection/connection-options.ts";
import { addCredentialOptions, addOlderCredentialOptions } from "./connection/credential-options.ts";
import { EXIT_CODE_HELP } from "./exit-codes.ts";
import type { Run } from "./invocation.ts";
import { VERSION } from "./version.ts";

/** Shown above the overview when `millrace` is called with nothing at all. */
export const BANNER = `
  __  __ _ _ _
 |  \\/  (_) | |_ _ __ _ __ ___
 | |\\/| | | | | '_/ _\` / _/ -_)
 |_|  |_|_|_|_|_| \\__,_\\__\\___|   ${VERSION}
`;

const EXAMPLES = `
Examples:
  millrace server --with-default-root-credentials
  export MILLRACE_USERNAME=iggy MILLRACE_PASSWORD=iggy
  millrace stream create shop
  millrace topic create shop orders 3 none
  millrace message send shop orders "hello"
  millrace message tail shop orders
`;

/** The whole command tree. Actions go through `run`; texts go to the streams that `runCli` sets. */
export function createProgram(run: Run): Command {
  const program = new Command("millrace")
    .description("Talk to a Millrace server, or to any server that speaks the same protocol.")
    .version(VERSION, "-V, --version")
    .enablePositionalOptions()
    .addHelpText("after", EXAMPLES + EXIT_CODE_HELP);
  addGlobalOptions(program);
  for (const add of COMMANDS) add(program, run);
  refuseUnknown(program);
  return program;
}

const COMMANDS = [
  addServer,
  addPing,
  addMe,
  addStats,
  addSnapshot,
  addOptions,
  addStream,
  addTopic,
  addPartition,
  addSegment,
  addMessage,
  addConsumerGroup,
  addConsumerOffset,
  addUser,
  addPat,
  addLogin,
  addLogout,
  addSession,
  addContext,
  addClient,
  addCluster,
  addBench,
];

function refuseUnknown(command: Command): void {
  command.on("command:*", ([typed]: string[]) => {
    const known = command.commands.map((child) => child.name()).join(", ");
    command.error(`error: "${typed}" is not a command. Known here: ${known}.`, {
      code: "commander.unknownCommand",
    });
  });
  for (const child of command.commands) if (child.commands.length > 0) refuseUnknown(child);
}

/** `--generate SHELL` prints the script and ends; no command and no server is needed. */
function addCompletion(program: Command): void {
  program
    .addOption(new Option("--generate <shell>", "print the completion script of a shell").choices(SHELLS))
    .on("option:generate", (shell: Shell) => {
      program.configureOutput().writeOut?.(completionScript(shell, program));
      throw new CommanderError(0, "millrace.generate", "");
    });
}

function addGlobalOptions(program: Command): void {
  program
    .addOption(outputOption())
    .option("-q, --quiet", "print nothing on stdout")
    .option("-v, --verbose", "say on stderr what is executed")
    .option("-d, --debug <file>", "append a log of what happens to a file");
  addCompletion(program);
  addCredentialOptions(program);
  addOlderCredentialOptions(program);
  addConnectionOptions(program);
}
