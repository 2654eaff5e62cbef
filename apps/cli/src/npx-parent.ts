/** How often a command looks whether the npx that runs it is still there. */
const CHECK_MS = 300;

/**
 * Ends the command by SIGTERM, as whoever stopped npx wanted: npx hands that signal to a shell in between
 * only, which ends without a word, and a server or a cluster would go on with nobody to stop it.
 */
export function endWithNpx(): void {
  if (process.env["npm_lifecycle_event"] !== "npx") return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, "SIGTERM");
  }, CHECK_MS);
  watch.unref();
}
