/** One command of the reference's tool: where it stands, its short names, its arguments and its options. */
export interface OfficialCommand {
  readonly place: string;
  readonly alias?: string;
  /** In order; `[X]` may be left out, `X...` repeats. */
  readonly words?: string;
  /** Separated by two spaces: `-s, --stream-id`. */
  readonly options?: string;
}

/** Groups and their short names. */
export const OFFICIAL_GROUPS: Readonly<Record<string, string>> = {
  stream: "s",
  topic: "t",
  partition: "p",
  segment: "seg",
  message: "m",
  user: "u",
  client: "c",
  cluster: "cl",
  "consumer-group": "g",
  "consumer-offset": "o",
  context: "ctx",
  session: "sess",
};

const EXPIRY = "[EXPIRY]...";

/** Every command of iggy-cli 0.14.0, written from the specification (cli.md section 3) and from nothing else. */
export const OFFICIAL_COMMANDS: readonly OfficialCommand[] = [
  { place: "stream create", alias: "c", words: "NAME", options: "-s, --stream-id" },
  { place: "stream delete", alias: "d", words: "S" },
  { place: "stream get", alias: "g", words: "S" },
  { place: "stream purge", alias: "p", words: "S" },
  { place: "stream update", alias: "u", words: "S NAME" },
  { place: "stream list", alias: "l", options: "-l, --list-mode" },
  {
    place: "topic create",
    alias: "c",
    words: `S NAME PARTITIONS COMPRESSION ${EXPIRY}`,
    options: "-t, --topic-id  -m, --max-topic-size  --set  --durability  --consumer-offset-durability",
  },
  { place: "topic update", alias: "u", words: `S T NAME COMPRESSION ${EXPIRY}`, options: "-m, --max-topic-size" },
  { place: "topic delete", alias: "d", words: "S T" },
  { place: "topic get", alias: "g", words: "S T" },
  { place: "topic purge", alias: "p", words: "S T" },
  { place: "topic list", alias: "l", words: "S", options: "-l, --list-mode" },
  { place: "partition create", alias: "c", words: "S T COUNT" },
  { place: "partition delete", alias: "d", words: "S T COUNT" },
  { place: "segment delete", alias: "d", words: "S T P COUNT" },
  {
    place: "message send",
    alias: "s",
    words: "S T [MESSAGE]...",
    options: "-p, --partition-id  -m, --message-key  -H, --headers  --input-file",
  },
  {
    place: "message poll",
    alias: "p",
    words: "S T P",
    options:
      "-o, --offset  -f, --first  -l, --last  -n, --next  -m, --message-count  -a, --auto-commit  -c, --consumer  " +
      "-s, --show-headers  --output-file",
  },
  { place: "message flush", alias: "f", words: "S T P", options: "-f, --fsync" },
  {
    place: "user create",
    alias: "c",
    words: "USERNAME PASSWORD",
    options: "-u, --user-status  -g, --global-permissions  -s, --stream-permissions",
  },
  { place: "user delete", alias: "d", words: "USER" },
  { place: "user get", alias: "g", words: "USER" },
  { place: "user list", alias: "l", options: "-l, --list-mode" },
  { place: "user name", alias: "n", words: "USER NEW_NAME" },
  { place: "user status", alias: "s", words: "USER STATUS" },
  { place: "user password", alias: "pwd", words: "USER [CURRENT] [NEW]" },
  {
    place: "user permissions",
    alias: "p",
    words: "USER",
    options: "-g, --global-permissions  -s, --stream-permissions",
  },
  { place: "pat create", alias: "c", words: `NAME ${EXPIRY}`, options: "-s, --store-token" },
  { place: "pat delete", alias: "d", words: "NAME" },
  { place: "pat list", alias: "l", options: "-l, --list-mode" },
  { place: "client get", alias: "g", words: "CLIENT_ID" },
  { place: "client list", alias: "l", options: "-l, --list-mode" },
  { place: "cluster metadata", alias: "m", options: "-l, --list-mode" },
  { place: "consumer-group create", alias: "c", words: "S T NAME", options: "-g, --group-id" },
  { place: "consumer-group delete", alias: "d", words: "S T GROUP" },
  { place: "consumer-group get", alias: "g", words: "S T GROUP" },
  { place: "consumer-group list", alias: "l", words: "S T", options: "-l, --list-mode" },
  { place: "consumer-offset get", alias: "g", words: "CONSUMER S T P", options: "-k, --kind" },
  { place: "consumer-offset set", alias: "s", words: "CONSUMER S T P OFFSET", options: "-k, --kind" },
  {
    place: "context create",
    alias: "c",
    words: "NAME",
    options:
      "--transport  --tcp-server-address  --http-api-url  --quic-server-address  --tcp-tls-enabled  -u, --username  " +
      "-p, --password  -t, --token  -n, --token-name",
  },
  { place: "context use", alias: "u", words: "NAME" },
  { place: "context delete", alias: "d", words: "NAME" },
  { place: "context show", alias: "s", words: "NAME" },
  { place: "context list", alias: "l", options: "-l, --list-mode" },
  { place: "options", words: "SCOPE" },
  { place: "ping", options: "-c, --count" },
  { place: "me" },
  { place: "stats", options: "-o, --output" },
  { place: "snapshot", options: "-c, --compression  -s, --snapshot-types  -o, --out-dir" },
  { place: "login", alias: "li", words: EXPIRY },
  { place: "logout", alias: "lo" },
  { place: "session status", alias: "s" },
];

const QUIC_OPTIONS =
  "client-address server-address server-name reconnection-max-retries reconnection-interval max-concurrent-bidi-streams " +
  "datagram-send-buffer-size initial-mtu send-window receive-window response-buffer-size keep-alive-interval " +
  "max-idle-timeout validate-certificate";

/** Options that stand before the command (cli.md section 1). */
export const OFFICIAL_GLOBAL_OPTIONS: readonly string[] = [
  "-q, --quiet",
  "-d, --debug",
  "-u, --username",
  "-p, --password",
  "-t, --token",
  "-n, --token-name",
  "--generate",
  "-V, --version",
  "--transport",
  "--encryption-key",
  "--credentials-username",
  "--credentials-password",
  "--http-api-url",
  "--http-retries",
  "--tcp-server-address",
  "--tcp-reconnection-max-retries",
  "--tcp-reconnection-interval",
  "--tcp-tls-enabled",
  "--tcp-tls-domain",
  ...QUIC_OPTIONS.split(" ").map((name) => `--quic-${name}`),
  "--websocket-server-address",
  "--websocket-reconnection-max-retries",
  "--websocket-reconnection-interval",
];
