import { CodedError, ErrorCode } from "@millrace/errors";
import { checkHttp } from "./check-http.ts";
import { checkLimits } from "./check-limits.ts";
import { checkTelemetry } from "./check-telemetry.ts";
import { encryptionKey } from "./encryption-key.ts";
import { invalid } from "./invalid-setting.ts";
import { isWildcard, parseListenAddress } from "./listen-address.ts";
import type { Config } from "./schema.ts";

/**
 * With room for one message only, its sender would wait for itself: what a message shares a block with is
 * held too.
 */
const MESSAGES_IN_POOL_MIN = 2;
/** An encrypted message is there twice until it is written. */
const ENCRYPTED_IN_POOL_MIN = 3;

/** A timer of Node takes 31 bits of milliseconds and fires at once beyond. */
const INTERVAL_MAX_MS = 2 ** 31 - 1;

/** Tables of listeners that clients connect to. */
const LISTENERS = ["tcp", "websocket", "grpc"] as const;

/**
 * Checks what no single value can show: features that are not built, addresses, a usable data path.
 *
 * @throws CodedError FeatureUnavailable, InvalidConfiguration, InvalidEncryptionKey
 */
export function checkConfig(config: Config): void {
  if (config.path.trim() === "") throw invalid("path", "is blank; name the folder that holds the data");
  if (config.logging.path.trim() === "") throw invalid("logging.path", "is blank; name a folder");
  refuseUnbuilt(config);
  if (!config.tcp.enabled) throw invalid("tcp.enabled", "is false, so no client could reach the server");
  checkReachable(config);
  checkTelemetry(config.telemetry);
  checkLimits(config);
  for (const name of LISTENERS) checkTls(config[name].tls, `${name}.tls`);
  if (config.http.enabled) {
    checkTls(config.http.tls, "http.tls");
    checkHttp(config.http);
  }
  const { shutdown_poll_interval: poll, shutdown_drain_timeout: drain } = config.sharding;
  if (poll > drain) throw invalid("sharding.shutdown_poll_interval", "is above shutdown_drain_timeout");
  if (drain > config.sharding.shutdown_join_timeout) {
    throw invalid("sharding.shutdown_drain_timeout", "is above shutdown_join_timeout");
  }
  const inPoolMin =
    encryptionKey(config.encryption) === undefined ? MESSAGES_IN_POOL_MIN : ENCRYPTED_IN_POOL_MIN;
  if (config.memory_pool.size < inPoolMin * config.message_bus.max_message_size) {
    throw invalid("memory_pool.size", `holds fewer than ${inPoolMin} of the longest messages`);
  }
  checkIntervals(config);
}

/** What happens again and again needs an interval that a timer can wait for. */
function checkIntervals({ heartbeat, personal_access_token: tokens, data_maintenance: data }: Config): void {
  const { cleaner_enabled: isCleaning, interval } = data.messages;
  const timers: readonly (readonly [table: string, flag: string, isOn: boolean, ms: number])[] = [
    ["heartbeat", "enabled", heartbeat.enabled, heartbeat.interval],
    ["personal_access_token.cleaner", "enabled", tokens.cleaner.enabled, tokens.cleaner.interval],
    ["data_maintenance.messages", "cleaner_enabled", isCleaning, interval],
  ];
  for (const [table, flag, isOn, ms] of timers) {
    if (!isOn) continue;
    if (ms === 0) throw invalid(`${table}.interval`, `is 0 although ${table}.${flag} is true`);
    if (ms > INTERVAL_MAX_MS)
      throw invalid(`${table}.interval`, "is above 24 days, the longest a timer waits");
  }
}

/** Features a configuration may name that this release does not have; switched on, they refuse to start. */
export function unbuiltSwitches(config: Config): readonly (readonly [key: string, isOn: boolean])[] {
  return [
    ["quic.enabled", config.quic.enabled],
    ["http.web_ui", config.http.enabled && config.http.web_ui],
  ];
}

function refuseUnbuilt(config: Config): void {
  const unbuilt = unbuiltSwitches(config).find(([, isOn]) => isOn);
  if (unbuilt === undefined) return;
  throw new CodedError(
    ErrorCode.FeatureUnavailable,
    `The setting ${unbuilt[0]} = true is not available in this release${reasonOf(unbuilt[0])}. Set it to false.`,
    { details: { key: unbuilt[0] } },
  );
}

/** Why a switch cannot be on, where its name does not say it, and what to use instead. */
function reasonOf(key: string): string {
  return key === "http.web_ui"
    ? ": the server brings no pages for a browser; the command line and the HTTP API show the same"
    : "";
}

/**
 * Clients reconnect to the address the roster names; without `[cluster]` a wildcard needs one to put there.
 */
function checkReachable(config: Config): void {
  const advertised = config.node.advertised_address;
  for (const name of [...LISTENERS, "http"] as const) {
    if (!config[name].enabled) continue;
    const { host } = parseListenAddress(config[name].address, `${name}.address`);
    if (advertised !== undefined || config.cluster.enabled || !isWildcard(host)) continue;
    throw invalid(`${name}.address`, `binds every interface (${host}); set node.advertised_address too`);
  }
  if (advertised !== undefined && isWildcard(advertised)) {
    throw invalid("node.advertised_address", "stands for every interface; name one that clients can reach");
  }
}

/** Certificate and key come together; without `self_signed` they have to. */
function checkTls(tls: Config["tcp"]["tls"], key: string): void {
  if (!tls.enabled) return;
  const [certificate, privateKey] = [tls.cert_file !== "", tls.key_file !== ""];
  if (certificate && !privateKey) throw invalid(`${key}.key_file`, `is missing beside ${key}.cert_file`);
  if (!certificate && privateKey) throw invalid(`${key}.cert_file`, `is missing beside ${key}.key_file`);
  if (!certificate && !tls.self_signed) {
    throw invalid(
      `${key}.cert_file`,
      `is missing; ${key}.self_signed = true makes a certificate at each start`,
    );
  }
}
