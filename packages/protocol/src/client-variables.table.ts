/**
 * Environment variables of the command `millrace`, which has the folder of its settings, its credentials and
 * its connection options from them. They live in the same shell as a server's, whose settings are
 * `MILLRACE_` variables too: no setting may have one of these names, and a server passes them over.
 */
export const CLIENT_VARIABLES = [
  "MILLRACE_HOME",
  "MILLRACE_USERNAME",
  "MILLRACE_PASSWORD",
  "MILLRACE_TRANSPORT",
  "MILLRACE_CONNECTION_STRING",
  "MILLRACE_TCP_SERVER_ADDRESS",
  "MILLRACE_WEBSOCKET_SERVER_ADDRESS",
  "MILLRACE_HTTP_API_URL",
] as const;

/** Name of an environment variable of the command `millrace`. */
export type ClientVariable = (typeof CLIENT_VARIABLES)[number];
