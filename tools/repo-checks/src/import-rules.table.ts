/**
 * Which package may import which, from the table in the style guide. `errors` is open to all and not listed.
 * A package that stands here may import only what its row names; tools may import any package by its front
 * door.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  testkit: [],
  framing: [],
  platform: ["framing"],
  protocol: ["framing"],
  vsr: ["framing"],
  metadata: ["protocol", "framing"],
  keyspace: ["framing"],
  storage: ["framing", "platform"],
  transports: ["framing", "platform", "protocol"],
  broker: ["vsr", "metadata", "keyspace", "storage", "protocol", "framing", "platform"],
  client: ["transports", "protocol", "framing", "platform", "keyspace"],
  "embedded-log": ["storage", "keyspace", "framing", "platform"],
};

/**
 * Packages below the sockets and the disk: they run in the simulator or a browser, so no Node built-in may
 * appear.
 */
export const WITHOUT_NODE: readonly string[] = [
  "errors",
  "framing",
  "protocol",
  "vsr",
  "metadata",
  "keyspace",
  "storage",
  "broker",
];

/**
 * Folders of other packages in which Node built-ins are at home; elsewhere in those packages they are
 * refused.
 */
export const NODE_ROOMS: Readonly<Record<string, RegExp>> = {
  platform: /\/src\/node\//,
  transports: /\/src\/(?:tcp|tls|grpc|http|replica|listening|websocket\/(?:node|client|server))\//,
  client: /\/src\/default-platform\.ts$|\/src\/connection\/diagnostics\.ts$/,
};

/** Names that reach around the platform, and what to ask instead. */
export const BANNED_GLOBALS: Readonly<Record<string, string>> = {
  Date: "Clock.wallMicros()",
  performance: "Clock.monotonicMs()",
  setTimeout: "Clock.setTimer()",
  setInterval: "Clock.setTimer()",
  setImmediate: "Clock.afterEvent()",
  process: "a value handed down from the app",
  Buffer: "Uint8Array and DataView",
  "Math.random": "Random",
  console: "Log",
};

/** Where each banned name is refused. Packages that are not listed may use it. */
export const BANNED_IN: Readonly<Record<string, readonly string[]>> = {
  framing: Object.keys(BANNED_GLOBALS),
  protocol: Object.keys(BANNED_GLOBALS),
  errors: Object.keys(BANNED_GLOBALS),
  vsr: [...Object.keys(BANNED_GLOBALS), "Promise"],
  metadata: [...Object.keys(BANNED_GLOBALS), "Promise"],
  keyspace: [...Object.keys(BANNED_GLOBALS), "Promise"],
  storage: Object.keys(BANNED_GLOBALS),
  broker: Object.keys(BANNED_GLOBALS),
  transports: ["Date", "process", "Math.random", "console"],
  client: ["process", "console"],
};
