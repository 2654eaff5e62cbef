import { type Broker, whyNoLogin } from "@millrace/broker";
import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import { refuseOptions, resolveTopicOptions, resolveTopicUpdate } from "@millrace/metadata";
import type { Platform } from "@millrace/platform";
import type { PrometheusMetrics } from "@millrace/platform/prometheus";
import type { SendConfirmation } from "@millrace/protocol";
import { toIdentifier } from "@millrace/protocol";
import type { CorsOptions, HttpListener, JwtOptions } from "@millrace/transports/http/server";
import { jwtSecret } from "../config/check-http.ts";
import { parseListenAddress } from "../config/listen-address.ts";
import type { Config } from "../config/schema.ts";
import { VERSION } from "../version.ts";
import { listenerTls } from "./listener-tls.ts";
import { namingSetting } from "./naming-setting.ts";
import { sessionsOf } from "./session-table-part.ts";

/** HTTP clients may take this part of the session table. */
const SESSION_TABLE_PART = 0.5;

/** What the API is opened with. */
export interface HttpParts {
  readonly config: Config;
  readonly platform: Platform;
  readonly metrics: PrometheusMetrics;
  readonly broker: Broker;
  readonly kernel: ChecksumKernel;
  readonly pool: BlockPool;
}

/**
 * Opens the HTTP API as the configuration says; undefined when it is off.
 *
 * @throws CodedError CannotBindToSocket, InvalidTlsCertificatePath, InvalidTlsCertificate
 */
export async function startHttp(parts: HttpParts): Promise<HttpListener | undefined> {
  const { config, platform, metrics, broker } = parts;
  const { http } = config;
  if (!http.enabled) return undefined;
  // Its libraries are the most of what a start loads, so a server without the API goes without them.
  const { listenHttp } = await import("@millrace/transports/http/server");
  const { contentType } = metrics;
  const metricsPage = { path: http.metrics.endpoint, contentType, text: () => metrics.text() };
  const listening = listenHttp({
    ...parseListenAddress(http.address, "http.address"),
    onConnection: (connection) => broker.onConnection(connection),
    kernel: parts.kernel,
    leases: parts.pool,
    clock: platform.clock,
    random: platform.random,
    log: platform.log.child({ transport: "http" }),
    metrics,
    tls: await listenerTls(http.tls, "http.tls"),
    jwt: jwtOptions(http.jwt),
    cors: corsOptions(http.cors),
    metricsPage: http.metrics.enabled ? metricsPage : undefined,
    socketsMax: config.tcp.connections_max,
    sessionsMax: sessionsOf(config, SESSION_TABLE_PART),
    bodyLengthMax: http.max_request_size,
    whyNoLogin: () => whyNoLogin(broker.shard),
    view: () => broker.shard.metadata.view,
    durabilityOf: (confirmation) => durabilityOf(broker, confirmation),
    optionChecks: {
      createTopic: (options, partitionsCount) => resolveTopicOptions(options, { partitionsCount }),
      updateTopic: resolveTopicUpdate,
      none: refuseOptions,
    },
    version: VERSION,
  });
  return namingSetting("http", listening);
}

function jwtOptions(jwt: Config["http"]["jwt"]): JwtOptions {
  return {
    algorithm: jwt.algorithm,
    issuer: jwt.issuer,
    audience: jwt.audience,
    validIssuers: jwt.valid_issuers,
    validAudiences: jwt.valid_audiences,
    expirySeconds: Math.round(jwt.access_token_expiry / 1000),
    clockSkewSeconds: Math.round(jwt.clock_skew / 1000),
    notBeforeSeconds: Math.round(jwt.not_before / 1000),
    secret: jwtSecret(jwt),
    trustedIssuers: jwt.trusted_issuers.map(({ issuer, audience, jwks_url, user_id }) => ({
      issuer,
      audience,
      jwksUrl: jwks_url,
      userId: user_id,
    })),
  };
}

function corsOptions(cors: Config["http"]["cors"]): CorsOptions | undefined {
  if (!cors.enabled) return undefined;
  return {
    origins: cors.allowed_origins,
    methods: cors.allowed_methods,
    allowedHeaders: cors.allowed_headers,
    exposedHeaders: cors.exposed_headers,
    credentials: cors.allow_credentials,
    privateNetwork: cors.allow_private_network,
  };
}

/** How durable a confirmed batch is, in the words of the header: that is its topic's choice. */
function durabilityOf({ shard }: Broker, { streamId, topicId }: SendConfirmation): string {
  const stream = shard.catalog.findStream(toIdentifier(streamId));
  const topic = stream && shard.catalog.findTopic(stream, toIdentifier(topicId));
  return topic?.durability ?? "replicated";
}
