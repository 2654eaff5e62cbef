/** Levels as `RUST_LOG` writes them. */
const LEVELS: Readonly<Record<string, string>> = {
  trace: "trace",
  debug: "debug",
  info: "info",
  warn: "warn",
  error: "error",
  off: "silent",
};

/**
 * The level that a `RUST_LOG` such as `info` or `warn,iggy=debug` asks of the whole server; undefined when it
 * speaks of single modules only, which this server does not have.
 */
export function rustLogLevel(value: string): string | undefined {
  const words = value.split(",").map((word) => word.trim().toLowerCase());
  return words.flatMap((word) => (Object.hasOwn(LEVELS, word) ? [LEVELS[word]] : [])).at(-1);
}
