const of = (right: string, ...commands: readonly string[]) => commands.map((command) => [command, right] as const);

/**
 * The least right that lets a user run a command. Higher ones do as well, such as `manage_streams` for
 * everything in streams.
 */
export const RIGHT_OF_COMMAND: ReadonlyMap<string, string> = new Map([
  ...of("read_servers", "stats", "snapshot", "client get", "client list"),
  ...of("read_users", "user get", "user list"),
  ...of("manage_users", "user create", "user delete", "user name", "user status", "user permissions", "user password"),
  ...of("read_streams", "stream list"),
  ...of("manage_streams", "stream create"),
  ...of("read_stream on that stream", "stream get"),
  ...of("manage_stream on that stream", "stream update", "stream delete", "stream purge"),
  ...of("read_topics on that stream", "topic list"),
  ...of("manage_topics on that stream", "topic create"),
  ...of("read_topic on that topic", "topic get", "consumer-group create", "consumer-group delete",
    "consumer-group get", "consumer-group list", "consumer-group lag"),
  ...of("manage_topic on that topic", "topic update", "topic delete", "topic purge", "partition create",
    "partition delete", "segment delete"),
  ...of("poll_messages on that topic", "message poll", "message tail", "consumer-offset get", "consumer-offset set",
    "consumer-offset delete"),
  ...of("send_messages on that topic", "message send"),
]);
