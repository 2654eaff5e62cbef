import type { AddCommand } from "./command.ts";

/**
 * `millrace server [ARGUMENTS...]`: starts the server as a child process and ends with its exit code.
 * Everything after `server`, `--help` included, belongs to the server.
 */
export const addServer: AddCommand = (parent, run) => {
  parent
    .command("server")
    .description("start a server here; what follows is passed on, try: millrace server --help")
    .argument("[arguments...]", "arguments of millrace-server")
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(run(({ world }, serverArguments: string[]) => world.runServer(serverArguments)));
};
