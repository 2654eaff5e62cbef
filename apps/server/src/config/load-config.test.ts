import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { CLIENT_VARIABLES } from "@millrace/protocol";
import { parse } from "smol-toml";
import { effectiveConfig } from "./effective-config.ts";
import { encryptionKey } from "./encryption-key.ts";
import { variablePatterns } from "./environment.ts";
import { withEnvironmentFile } from "./environment-file.ts";
import { loadConfig } from "./load-config.ts";

const MIB = 1024 * 1024;

/** Loads a configuration whose file has this content. */
async function loadFile(content: string, environment: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), "millrace-config-"));
  try {
    const configPath = join(folder, "config.toml");
    await writeFile(configPath, content);
    return await loadConfig({ environment, configPath });
  } finally {
    await rm(folder, { recursive: true });
  }
}

const refusal = (code: number, pattern: RegExp) => (error: unknown) =>
  isCodedError(error, code) && pattern.test(error.message);

test("Without anything said, the server listens on loopback and keeps its data in ./local_data.", async () => {
  const { config, warnings } = await loadConfig({ environment: {} });
  assert.equal(config.path, "local_data");
  assert.equal(config.tcp.address, "127.0.0.1:8090");
  assert.deepEqual([config.quic.enabled, config.http.enabled, config.websocket.enabled], [false, true, true]);
  assert.equal(config.http.address, "127.0.0.1:3000");
  assert.deepEqual(
    [config.http.max_request_size, config.http.jwt.access_token_expiry],
    [2_000_000, 3_600_000],
  );
  assert.equal(config.websocket.address, "127.0.0.1:8092");
  assert.deepEqual([config.grpc.enabled, config.grpc.address], [false, "127.0.0.1:8093"]);
  assert.equal(config.memory_pool.size, 512 * MIB);
  assert.equal(config.heartbeat.interval, 30_000);
  assert.equal(config.sharding.admission_timeout, 2000);
  assert.deepEqual(warnings, []);
});

test("File, then IGGY_ names, then MILLRACE_ names, then the command line: later wins.", async () => {
  const file = '[tcp]\naddress = "127.0.0.1:1"\nconnections_max = 7\n[heartbeat]\ninterval = "1 m 5 s"\n';
  const environment = {
    IGGY_TCP_ADDRESS: "127.0.0.1:2",
    MILLRACE_TCP_ADDRESS: "127.0.0.1:3",
    IGGY_MESSAGE_BUS_MAX_MESSAGE_SIZE: "1 MiB",
    IGGY_PARTITION_VALIDATE_CHECKSUM: "false",
    MILLRACE_PATH: "/from/environment",
  };
  const { config } = await loadFile(file, environment);
  assert.equal(config.tcp.address, "127.0.0.1:3");
  assert.equal(config.tcp.connections_max, 7);
  assert.equal(config.heartbeat.interval, 65_000);
  assert.equal(config.message_bus.max_message_size, MIB);
  assert.equal(config.partition.validate_checksum, false);
  assert.equal(config.path, "/from/environment");
  const told = await loadConfig({ environment, dataPath: "/from/flag" });
  assert.equal(told.config.path, "/from/flag");
});

test("A configuration file is also found by MILLRACE_CONFIG_PATH; one that cannot be read is refused by name.", async () => {
  const missing = "/nowhere/at/all.toml";
  const sources = { environment: { MILLRACE_CONFIG_PATH: missing } };
  await assert.rejects(
    loadConfig(sources),
    refusal(ErrorCode.InvalidConfiguration, /nowhere\/at\/all\.toml/),
  );
  await assert.rejects(loadFile("= nonsense"), refusal(ErrorCode.InvalidConfiguration, /config\.toml/));
});

test("Unknown keys refuse the start with what was probably meant; keys of later releases do not.", async () => {
  const refused = (pattern: RegExp) => refusal(ErrorCode.InvalidConfiguration, pattern);
  const file = '[tcp]\nadress = "x"\n[cluster]\nname = "mine"\n[nonsense]\na = 1\n';
  const both =
    /^These settings are unknown: tcp\.adress \(did you mean tcp\.address\?\), nonsense\. Correct them/;
  await assert.rejects(loadFile(file), refused(both));
  const many = ["a", "b", "c", "d", "e", "f", "g"].map((key) => `${key} = 1\n`).join("");
  await assert.rejects(loadFile(many), refused(/unknown: a, b, c, d, e and 2 more\./));
  await loadFile(
    '[cluster]\nname = "mine"\n[metadata]\npartitions_max = 7\n[message_bus]\nconnections_max = 9\n',
  );
});

test("A variable of ours that names no setting refuses the start; of the reference's, it is a warning.", async () => {
  const wrong = { MILLRACE_TCP_ADRESS: "x" };
  const pattern = /MILLRACE_TCP_ADRESS \(did you mean MILLRACE_TCP_ADDRESS\?\)/;
  await assert.rejects(loadConfig({ environment: wrong }), refusal(ErrorCode.InvalidConfiguration, pattern));
  const others = {
    IGGY_TCP_SERVER: "x",
    MILLRACE_HOME: "/",
    MILLRACE_USERNAME: "u",
    MILLRACE_CLUSTER_NAME: "c",
  };
  const { warnings } = await loadConfig({ environment: others });
  assert.deepEqual(warnings, ["The variable IGGY_TCP_SERVER names no setting and is ignored."]);
});

test("A server starts in a shell that is set up for the command millrace, and names what it passes over.", async () => {
  const exported = Object.fromEntries(CLIENT_VARIABLES.map((name) => [name, "127.0.0.1:8090"]));
  const { warnings, config } = await loadConfig({ environment: exported });
  const passedOver = ["TCP_SERVER_ADDRESS", "WEBSOCKET_SERVER_ADDRESS", "HTTP_API_URL"].map(
    (name) =>
      `The variable MILLRACE_${name} is one of the command millrace and changes nothing about this server.`,
  );
  assert.deepEqual(warnings, passedOver);
  const { config: plain } = await loadConfig({ environment: {} });
  assert.deepEqual(config, plain);
  const misspelt = { MILLRACE_TCP_SERVER_ADRESS: "127.0.0.1:8090" };
  const meant = /did you mean MILLRACE_TCP_SERVER_ADDRESS\?/;
  await assert.rejects(loadConfig({ environment: misspelt }), refusal(ErrorCode.InvalidConfiguration, meant));
});

test("No setting of the server has the name of a variable of the command millrace.", () => {
  const settings = new RegExp(
    `^MILLRACE_(?:${variablePatterns().join("|")}|ROOT_\\w+|CONFIG_PATH|ENV_PATH)$`,
  );
  assert.match("MILLRACE_TCP_ADDRESS", settings);
  assert.deepEqual(
    CLIENT_VARIABLES.filter((name) => settings.test(name)),
    [],
  );
});

test("Lists come from one variable with commas, or element by element, and replace the file's.", async () => {
  const origins = (environment: Record<string, string>) =>
    loadFile('[http.cors]\nallowed_origins = ["https://file"]\n', environment).then(
      ({ config }) => config.http.cors.allowed_origins,
    );
  assert.deepEqual(await origins({ IGGY_HTTP_CORS_ALLOWED_ORIGINS: "https://a, https://b" }), [
    "https://a",
    "https://b",
  ]);
  const each = {
    MILLRACE_HTTP_CORS_ALLOWED_ORIGINS_0: "https://a",
    IGGY_HTTP_CORS_ALLOWED_ORIGINS_1: "https://b",
  };
  assert.deepEqual(await origins(each), ["https://a", "https://b"]);
  await assert.rejects(
    origins({ MILLRACE_HTTP_CORS_ALLOWED_ORIGINS_1: "https://b" }),
    refusal(ErrorCode.InvalidConfiguration, /allowed_origins\[0\] is missing/),
  );
  const prefix = "IGGY_HTTP_JWT_TRUSTED_ISSUERS_0_";
  const issuer = { ISSUER: "a", AUDIENCE: "b", JWKS_URL: "https://a.example/keys", USER_ID: "7" };
  const environment = Object.fromEntries(Object.entries(issuer).map(([key, value]) => [prefix + key, value]));
  assert.deepEqual((await loadConfig({ environment })).config.http.jwt.trusted_issuers, [
    { issuer: "a", audience: "b", jwks_url: "https://a.example/keys", user_id: 7 },
  ]);
});

test("The reference's place below the working directory is read if a file is there, unless one is named.", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-config-"));
  try {
    const nothing = await loadConfig({ environment: {}, workingDirectory: folder });
    assert.equal(nothing.configPath, undefined);
    const usual = join(folder, "core", "server", "config.toml");
    await mkdir(join(folder, "core", "server"), { recursive: true });
    await writeFile(usual, "[tcp]\nconnections_max = 7\n");
    const found = await loadConfig({ environment: {}, workingDirectory: folder });
    assert.deepEqual([found.config.tcp.connections_max, found.configPath], [7, usual]);
    const named = join(folder, "mine.toml");
    await writeFile(named, "");
    const environment = { IGGY_CONFIG_PATH: named };
    assert.equal(
      (await loadConfig({ environment, workingDirectory: folder })).config.tcp.connections_max,
      16_384,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("A .env file adds variables that are not set, ours only; one that is named has to be there.", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-config-"));
  try {
    assert.deepEqual(await withEnvironmentFile({ A: "1" }, folder), {
      environment: { A: "1" },
      path: undefined,
    });
    const path = join(folder, ".env");
    await writeFile(
      path,
      'IGGY_TCP_ADDRESS="127.0.0.1:1" # here\nMILLRACE_PATH=/x\nRUST_LOG=debug\nPATH=/evil\n',
    );
    const { environment, path: read } = await withEnvironmentFile({ MILLRACE_PATH: "/set" }, folder);
    const expected = { IGGY_TCP_ADDRESS: "127.0.0.1:1", MILLRACE_PATH: "/set", RUST_LOG: "debug" };
    assert.deepEqual([{ ...environment }, read], [expected, path]);
    const named = { IGGY_ENV_PATH: join(folder, "other") };
    await assert.rejects(
      withEnvironmentFile(named, folder),
      refusal(ErrorCode.InvalidConfiguration, /other with environment variables cannot be read/),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("RUST_LOG is stronger than the file and IGGY_LOGGING_LEVEL, and weaker than our own variable.", async () => {
  const level = async (environment: Record<string, string>) => {
    const { config, warnings } = await loadFile('[logging]\nlevel = "error"\n', environment);
    return [config.logging.level, ...warnings.map((warning) => warning.slice(0, 8))];
  };
  assert.deepEqual(await level({}), ["error"]);
  assert.deepEqual(await level({ RUST_LOG: "" }), ["error"]);
  assert.deepEqual(await level({ RUST_LOG: "DEBUG", IGGY_LOGGING_LEVEL: "info" }), ["debug"]);
  assert.deepEqual(await level({ RUST_LOG: "warn,iggy=trace" }), ["warn"]);
  assert.deepEqual(await level({ RUST_LOG: "off" }), ["silent"]);
  assert.deepEqual(await level({ RUST_LOG: "iggy=trace" }), ["error", "RUST_LOG"]);
  assert.deepEqual(await level({ RUST_LOG: "trace", MILLRACE_LOGGING_LEVEL: "info" }), ["info"]);
});

test("Limits of several values are kept, also for settings without effect.", async () => {
  for (const [file, pattern] of [
    ['[quic]\nstream_receive_window = "65 MiB"\n', /quic\.stream_receive_window is above receive_window/],
    ["[metadata]\nprepare_queue_depth = 100\njournal_slots = 399\n", /metadata\.journal_slots is below/],
    ['[partition]\nwal_bytes_max = "128 MiB"\n', /partition\.wal_bytes_max/],
    ['[partition]\nwal_bytes_max = "268435457 B"\n', /partition\.wal_bytes_max/],
    ['[partition]\ntransfer_artifact_bytes_max = "1 GiB"\n', /partition\.transfer_artifact_bytes_max/],
    ["[memory_pool]\nbucket_capacity = 8191\n", /memory_pool\.bucket_capacity is no power of two/],
    ['[logging]\npath = " "\n', /logging\.path is blank/],
    [
      '[telemetry]\nenabled = true\ntraces = { endpoint = "localhost:4317" }\n',
      /telemetry\.traces\.endpoint/,
    ],
    [
      '[telemetry]\nenabled = true\nlogs = { endpoint = "http://me:pw@here" }\n',
      /logs\.endpoint holds credentials/,
    ],
    ['[telemetry]\nlogs = { transport = "tcp" }\n', /telemetry\.logs\.transport/],
  ] as const) {
    await assert.rejects(loadFile(file), refusal(ErrorCode.InvalidConfiguration, pattern), file);
  }
});

test("Settings that change nothing are named in one warning, from the file and the environment.", async () => {
  const file =
    '[sharding]\npin_cores = true\nshutdown_drain_timeout = "5 s"\n[quic.certificate]\nself_signed = true\n';
  const { warnings } = await loadFile(file, {
    IGGY_MESSAGE_BUS_MAX_BATCH: "9",
    MILLRACE_LOGGING_LEVEL: "warn",
  });
  assert.deepEqual(warnings, [
    "Settings without effect in this release: sharding.pin_cores (Node cannot pin threads to cores), " +
      "quic.certificate.self_signed (QUIC is not built), message_bus.max_batch (frames leave as the connection takes them).",
  ]);
});

test("Removed keys refuse to start and name what replaces them.", async () => {
  for (const [file, pattern] of [
    ["[system]\n", /system.*top level/],
    ["[topic]\n", /options of create topic/],
    ["[message_deduplication]\n", /message_deduplication/],
    ["[partition]\nenforce_fsync = true\n", /durability = persisted/],
  ] as const) {
    await assert.rejects(loadFile(file), refusal(ErrorCode.InvalidConfiguration, pattern));
  }
  const environment = { IGGY_SYSTEM_PATH: "x" };
  await assert.rejects(
    loadConfig({ environment }),
    refusal(ErrorCode.InvalidConfiguration, /IGGY_SYSTEM_PATH/),
  );
});

test("A feature that is not built refuses to start when it is switched on.", async () => {
  const environment = { MILLRACE_QUIC_ENABLED: "true" };
  const key = /quic\.enabled = true is not available/;
  await assert.rejects(loadConfig({ environment }), refusal(ErrorCode.FeatureUnavailable, key));
});

const TLS = { MILLRACE_TCP_TLS_ENABLED: "true" };

test("Values that cannot be are refused by their key.", async () => {
  for (const [environment, pattern] of [
    [{ MILLRACE_PATH: "  " }, /path is blank/],
    [{ MILLRACE_TCP_ADDRESS: "8090" }, /tcp\.address = "8090"/],
    [{ MILLRACE_TCP_ADDRESS: "127.0.0.1:70000" }, /tcp\.address/],
    [{ MILLRACE_HEARTBEAT_INTERVAL: "soon" }, /heartbeat\.interval.*soon/],
    [{ MILLRACE_HEARTBEAT_INTERVAL: "0" }, /heartbeat\.interval is 0/],
    [{ MILLRACE_DATA_MAINTENANCE_MESSAGES_INTERVAL: "none" }, /messages\.interval is 0 although/],
    [{ MILLRACE_DATA_MAINTENANCE_MESSAGES_INTERVAL: "25 days" }, /messages\.interval is above 24 days/],
    [{ MILLRACE_PERSONAL_ACCESS_TOKEN_CLEANER_INTERVAL: "0" }, /cleaner\.interval is 0/],
    [{ MILLRACE_MEMORY_POOL_SIZE: "1 KiB" }, /memory_pool\.size/],
    [{ MILLRACE_MEMORY_POOL_SIZE: "100 MiB" }, /memory_pool\.size holds fewer than 2/],
    [{ MILLRACE_PARTITION_PREPARE_QUEUE_DEPTH: "4097" }, /partition\.prepare_queue_depth/],
    [{ MILLRACE_TCP_ENABLED: "maybe" }, /tcp\.enabled/],
    [{ MILLRACE_TCP_ENABLED: "false" }, /tcp\.enabled is false/],
    [{ MILLRACE_WEBSOCKET_ADDRESS: "somewhere" }, /websocket\.address/],
    [{ ...TLS, MILLRACE_TCP_TLS_CERT_FILE: "a.pem" }, /tcp\.tls\.key_file is missing/],
    [{ ...TLS, MILLRACE_TCP_TLS_KEY_FILE: "a.pem" }, /tcp\.tls\.cert_file is missing/],
    [{ ...TLS, MILLRACE_TCP_TLS_SELF_SIGNED: "false" }, /tcp\.tls\.cert_file is missing/],
    [
      { MILLRACE_WEBSOCKET_TLS_ENABLED: "true", MILLRACE_WEBSOCKET_TLS_SELF_SIGNED: "false" },
      /websocket\.tls\.cert_file is missing/,
    ],
  ] as const) {
    await assert.rejects(loadConfig({ environment }), refusal(ErrorCode.InvalidConfiguration, pattern));
  }
});

test("A wildcard address needs an advertised one that can be reached.", async () => {
  for (const address of ["0.0.0.0:8090", "[::]:8090", "[0:0:0:0:0:0:0:0]:8090"]) {
    const environment = { MILLRACE_TCP_ADDRESS: address };
    await assert.rejects(
      loadConfig({ environment }),
      refusal(ErrorCode.InvalidConfiguration, /node\.advertised_address/),
    );
    const advertised = { ...environment, MILLRACE_NODE_ADVERTISED_ADDRESS: "10.0.0.7" };
    assert.equal((await loadConfig({ environment: advertised })).config.node.advertised_address, "10.0.0.7");
    const other = { MILLRACE_WEBSOCKET_ADDRESS: address };
    await assert.rejects(
      loadConfig({ environment: other }),
      refusal(ErrorCode.InvalidConfiguration, /websocket\.address binds every interface/),
    );
    const useless = { ...environment, MILLRACE_NODE_ADVERTISED_ADDRESS: "0.0.0.0" };
    await assert.rejects(
      loadConfig({ environment: useless }),
      refusal(ErrorCode.InvalidConfiguration, /reach/),
    );
  }
});

test("A key that is not 32 bytes in base64 is refused and not shown, and one that is not asked for is not read.", async () => {
  const enabled = { MILLRACE_ENCRYPTION_ENABLED: "true" };
  const key = Buffer.alloc(32, 1).toString("base64");
  for (const wrong of ["", "key-of-mine", key.slice(1), `${key}AAAA`, key.replace("=", "A")]) {
    const loading = loadConfig({ environment: { ...enabled, MILLRACE_ENCRYPTION_KEY: wrong } });
    await assert.rejects(loading, refusal(ErrorCode.InvalidEncryptionKey, /encryption\.key is/));
    if (wrong !== "") await assert.rejects(loading, (error) => !String(error).includes(wrong));
  }
  const tight = { ...enabled, MILLRACE_ENCRYPTION_KEY: key, MILLRACE_MEMORY_POOL_SIZE: "130 MiB" };
  await assert.rejects(
    loadConfig({ environment: tight }),
    refusal(ErrorCode.InvalidConfiguration, /memory_pool\.size holds fewer than 3/),
  );
  const { config } = await loadConfig({ environment: { ...enabled, IGGY_ENCRYPTION_KEY: ` ${key}\n` } });
  assert.deepEqual(encryptionKey(config.encryption), new Uint8Array(32).fill(1));
  const off = await loadConfig({ environment: { MILLRACE_ENCRYPTION_KEY: "key-of-mine" } });
  assert.equal(encryptionKey(off.config.encryption), undefined);
});

test("The effective configuration is TOML with the bound address and without secrets.", async () => {
  const secrets = {
    MILLRACE_HTTP_JWT_ENCODING_SECRET: "hush-hush-and-32-bytes-of-silence",
    MILLRACE_ENCRYPTION_KEY: "key-of-mine",
  };
  const { config } = await loadConfig({ environment: secrets });
  const text = effectiveConfig(config, { addresses: { tcp: "127.0.0.1:4711" }, dataPath: "/data" });
  assert.doesNotMatch(text, /hush-hush|key-of-mine/);
  const read = parse(text) as { path: string; tcp: { address: string } };
  assert.deepEqual([read.path, read.tcp.address], ["/data", "127.0.0.1:4711"]);
});

test("Settings of HTTP that contradict each other are refused by their key.", async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["address = '0.0.0.0:3000'", /http\.address binds every interface/],
    ["address = '3000'", /http\.address = "3000"/],
    ["web_ui = true", /http\.web_ui = true is not available in this release: the server brings no pages/],
    ["tls = { enabled = true }", /http\.tls\.cert_file is missing; http\.tls\.self_signed = true/],
    ["tls = { enabled = true, cert_file = 'a.pem' }", /http\.tls\.key_file is missing beside/],
    ["tls = { enabled = true, key_file = 'a.pem' }", /http\.tls\.cert_file is missing beside/],
    ["max_request_size = '1 GB'", /http\.max_request_size/],
    ["cors = { allowed_origins = ['*', 'http://a.example'] }", /http\.cors\.allowed_origins/],
    ["cors = { allow_credentials = true }", /http\.cors\.allowed_origins is \*/],
    ["metrics = { endpoint = 'metrics' }", /http\.metrics\.endpoint/],
    ["jwt = { algorithm = 'RS256' }", /http\.jwt\.algorithm/],
    ["jwt = { encoding_secret = 'short' }", /http\.jwt\.encoding_secret is shorter than 32/],
    [
      `jwt = { encoding_secret = '${"a".repeat(32)}', decoding_secret = '${"b".repeat(32)}' }`,
      /decoding_secret differs/,
    ],
    ["jwt = { issuer = 'me' }", /http\.jwt\.valid_issuers lacks/],
    ["jwt = { audience = 'me' }", /http\.jwt\.valid_audiences lacks/],
    ["jwt = { access_token_expiry = '0' }", /http\.jwt\.access_token_expiry/],
    [
      "jwt = { trusted_issuers = [{ issuer = 'a', audience = 'b' }] }",
      /http\.jwt\.trusted_issuers\.0\.jwks_url/,
    ],
    [
      "jwt = { trusted_issuers = [{ issuer = 'a', audience = 'b', jwks_url = 'https://a.example/keys' }] }",
      /trusted_issuers\[0\]\.user_id is 0/,
    ],
  ];
  for (const [line, pattern] of cases) {
    const refused = (error: unknown) => isCodedError(error) && pattern.test(error.message);
    await assert.rejects(loadFile(`[http]\n${line}\n`), refused, line);
    const off = `[http]\nenabled = false\n${line}\n`;
    if (
      /address =|cors|metrics|secret =|web_ui|tls|issuer =/.test(line) &&
      !/jwks_url =|trusted/.test(line)
    ) {
      await loadFile(off);
    }
  }
});
