import { endWithNpx } from "./npx-parent.ts";
import { openProcessWorld } from "./process-world.ts";
import { runCli } from "./run-cli.ts";

// A reader that went away (`millrace ... | head`) ends the command quietly.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});
process.stderr.on("error", () => {});

endWithNpx();
const exitCode = await runCli(process.argv.slice(2), openProcessWorld());
// Standard input may stay open after the command is done with it; what was printed must still get out.
process.stdout.write("", () => process.exit(exitCode));
