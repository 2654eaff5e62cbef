import { execFile } from "node:child_process";
import type { Log } from "@millrace/platform";
import type { Environment } from "../config/environment.ts";

/** Tells systemd what the server is doing. */
export interface ServiceManager {
  /** The listeners are open; from now on the watchdog hears from the server, as often as it asks. */
  ready(): void;
  /** A stop has begun: silence is no failure any more. */
  stopping(): void;
}

/** Node has no datagram sockets for local paths, where systemd listens; this command comes with systemd. */
const COMMAND = "systemd-notify";
/** The watchdog hears from us twice per interval, as systemd advises. */
const BEATS_PER_INTERVAL = 2;
const MICROS_PER_MS = 1000;

/**
 * Notifications as the environment asks for them: `NOTIFY_SOCKET`, and `WATCHDOG_USEC` with `WATCHDOG_PID`.
 * Without the first nothing is sent. The unit needs `NotifyAccess=all`, as the command is another process.
 *
 * @see sd_notify(3), sd_watchdog_enabled(3), server-semantics section 16
 */
export function serviceManager(environment: Environment, log: Log): ServiceManager {
  if ((environment["NOTIFY_SOCKET"] ?? "") === "") return { ready() {}, stopping() {} };
  let hasFailed = false;
  const notify = (...states: string[]) => {
    execFile(COMMAND, states, { env: { ...environment } }, (error) => {
      if (error === null || hasFailed) return;
      hasFailed = true;
      log.warn("The service manager could not be told.", { command: COMMAND, error });
    });
  };
  const everyMs = watchdogMs(environment);
  let beats: NodeJS.Timeout | undefined;
  return {
    ready() {
      notify("--ready");
      if (everyMs !== undefined) beats = setInterval(() => notify("WATCHDOG=1"), everyMs).unref();
    },
    stopping() {
      clearInterval(beats);
      notify("--stopping");
    },
  };
}

/** Milliseconds between two signs of life; undefined when nobody waits for ours. */
function watchdogMs({ WATCHDOG_USEC: interval, WATCHDOG_PID: pid }: Environment): number | undefined {
  const micros = Number(interval);
  const isOurs = pid === undefined || Number(pid) === process.pid;
  if (!isOurs || !Number.isInteger(micros) || micros <= 0) return undefined;
  return Math.max(1, micros / MICROS_PER_MS / BEATS_PER_INTERVAL);
}
