import { failureOf } from "./failures/failure.ts";
import { reportText } from "./failures/report.ts";
import { endWithNpx } from "./npx-parent.ts";
import { openProcessWorld } from "./process-world.ts";
import { runCli, typedMode } from "./run-cli.ts";

process.stdout.on("error", endWithoutOutput);
process.stderr.on("error", () => {});

endWithNpx();
const exitCode = await runCli(process.argv.slice(2), openProcessWorld());
// Standard input may stay open after the command is done with it; what was printed must still get out.
process.stdout.write("", (error) => {
  // When an earlier write failed, its event says what it was; it comes behind this.
  if (!error) process.exit(exitCode);
});

/** A reader that went away (`millrace ... | head`) ends the command quietly; a full disk must not. */
function endWithoutOutput(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  const failure = failureOf(Object.assign(error, { path: "Standard output" }), {});
  process.stderr.write(reportText(failure, typedMode(process.argv.slice(2))));
  process.exit(failure.exitCode);
}
