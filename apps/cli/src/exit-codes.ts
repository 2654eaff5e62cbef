/** What the exit code of `millrace` means. Scripts rely on it; see the README. */
export const ExitCode = {
  ok: 0,
  /** The server refused, or the operation failed in another way. */
  failed: 1,
  /** The command line is wrong: nothing was sent to the server. */
  usage: 2,
  /** No server could be reached, or the connection was lost. */
  connection: 3,
  /** Credentials are missing or wrong, or the user lacks the permission. */
  access: 4,
  /** The stream, topic, partition, client or offset does not exist. */
  notFound: 5,
  /** Bytes on the server's disk are not as they were written. */
  damaged: 6,
} as const;

/** One of the exit codes. */
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The lines that `--help` ends with. */
export const EXIT_CODE_HELP = `
Exit codes:
  0  done
  1  the server refused or the operation failed
  2  wrong command line
  3  cannot connect to the server
  4  not authenticated or not authorised
  5  not found
  6  the server's data is damaged
`;
