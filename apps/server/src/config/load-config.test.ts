import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import { parse } from "smol-toml";
import { effectiveConfig } from "./effective-config.ts";
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

test("Unknown keys are warned about and ignored; tables that take any key are not.", async () => {
  const { warnings } = await loadFile('[tcp]\nadress = "x"\n[cluster]\nname = "mine"\n[nonsense]\na = 1\n');
  assert.deepEqual(warnings, [
    "The setting tcp.adress is unknown and ignored.",
    "The setting nonsense is unknown and ignored.",
  ]);
});

test("Settings that change nothing are named in one warning, from the file and the environment.", async () => {
  const file =
    '[sharding]\npin_cores = true\nshutdown_drain_timeout = "5 s"\n[quic.certificate]\nself_signed = true\n';
  const { warnings } = await loadFile(file, { IGGY_LOGGING_PATH: "logs", MILLRACE_LOGGING_LEVEL: "warn" });
  assert.deepEqual(warnings, [
    "Settings without effect in this release: sharding.pin_cores (Node cannot pin threads to cores), " +
      "quic.certificate.self_signed (QUIC is not built), logging.path (the log goes to standard error only).",
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
  for (const name of ["QUIC", "HTTP_TLS", "TELEMETRY", "ENCRYPTION", "CLUSTER"]) {
    const environment = { [`MILLRACE_${name}_ENABLED`]: "true" };
    const key = new RegExp(`${name.toLowerCase().replace("_", ".")}.enabled = true is not available`);
    await assert.rejects(loadConfig({ environment }), refusal(ErrorCode.FeatureUnavailable, key));
  }
});

const TLS = { MILLRACE_TCP_TLS_ENABLED: "true" };

test("Values that cannot be are refused by their key.", async () => {
  for (const [environment, pattern] of [
    [{ MILLRACE_PATH: "  " }, /path is blank/],
    [{ MILLRACE_TCP_ADDRESS: "8090" }, /tcp\.address = "8090"/],
    [{ MILLRACE_TCP_ADDRESS: "127.0.0.1:70000" }, /tcp\.address/],
    [{ MILLRACE_HEARTBEAT_INTERVAL: "soon" }, /heartbeat\.interval.*soon/],
    [{ MILLRACE_HEARTBEAT_INTERVAL: "0" }, /heartbeat\.interval is 0/],
    [{ MILLRACE_MEMORY_POOL_SIZE: "1 KiB" }, /memory_pool\.size/],
    [{ MILLRACE_MEMORY_POOL_SIZE: "100 MiB" }, /memory_pool\.size holds fewer than 2/],
    [{ MILLRACE_PARTITION_PREPARE_QUEUE_DEPTH: "128" }, /partition\.prepare_queue_depth/],
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
    ["web_ui = true", /http\.web_ui = true is not available/],
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
    if (/address =|cors|metrics|secret =|web_ui|issuer =/.test(line) && !/jwks_url =|trusted/.test(line)) {
      await loadFile(off);
    }
  }
});
