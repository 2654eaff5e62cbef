import { MillraceClient } from "@millrace/client";

/** Where the lines go. */
export const STREAM = "files";
/** One topic for the file. */
export const TOPIC = "ip-ranges";

/**
 * Logs in at `MILLRACE_ADDRESS` (127.0.0.1:8090) as `MILLRACE_USERNAME` with `MILLRACE_PASSWORD` (iggy and
 * iggy, what `npm start` sets up).
 */
export function connect(): Promise<MillraceClient> {
  const { MILLRACE_ADDRESS, MILLRACE_USERNAME, MILLRACE_PASSWORD } = process.env;
  return MillraceClient.connect({
    address: MILLRACE_ADDRESS ?? "127.0.0.1:8090",
    username: MILLRACE_USERNAME ?? "iggy",
    password: MILLRACE_PASSWORD ?? "iggy",
  });
}

/** A rate for people: `n` things in so many milliseconds. */
export function perSecond(n: number, elapsedMs: number): string {
  return Math.round((n * 1_000) / elapsedMs).toLocaleString("en");
}
