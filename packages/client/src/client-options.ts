import { CodedError, ErrorCode } from "@millrace/errors";
import { encodeUtf8 } from "@millrace/framing";
import { U64_MAX } from "@millrace/protocol";
import type { ClientPlatform } from "./client-platform.ts";
import { nameOf } from "./name-of.ts";
import {
  type ClientTransport,
  isClientTransport,
  parseServerAddress,
  type ServerAddress,
} from "./server-address.ts";

/** How a lost connection is made again. Times are milliseconds. */
export interface ReconnectOptions {
  /** Attempts in a row before the client gives up and fails what waits. Default: no limit. */
  readonly retries?: number;
  /** Wait before the first attempt. Default 250. */
  readonly intervalMs?: number;
  /** Each further wait is this many times longer. Default 2. */
  readonly factor?: number;
  /** No wait is longer. Default 10 000. */
  readonly delayMaxMs?: number;
  /** Share of a wait that chance decides, 0..=1, so that many clients do not return at once. Default 0.3. */
  readonly jitter?: number;
}

/** How an encrypted connection checks its server. Every field has a default. */
export interface TlsOptions {
  /** Name the certificate must be for; default the host of the address. */
  readonly domain?: string;
  /** PEM file of the authorities to trust in place of the system's. */
  readonly caFile?: string;
  /**
   * `false` accepts any certificate: then whoever is in between can read and change everything. Default true.
   */
  readonly validate?: boolean;
}

/** Options of `MillraceClient.connect`. Every field has a default. */
export interface ClientOptions {
  /**
   * `host:port` of one server or of several nodes of a cluster. Default `127.0.0.1` and the transport's port:
   * 8090 for TCP, 8092 for WebSocket, 8093 for gRPC, 3000 for HTTP.
   */
  readonly address?: string | readonly string[];
  /**
   * `tcp` by default, `ws` in a browser. In Node `ws` needs the package of that name, `grpc` the package
   * `@grpc/grpc-js`, `http` the package `lossless-json`. `http` speaks to the HTTP API: one request at a
   * time, no consumer groups, and a write whose answer is lost fails with `OutcomeUnknown`.
   */
  readonly transport?: ClientTransport;
  /** Encrypts the connection; `true` checks the server against the system's authorities. Default false. */
  readonly tls?: boolean | TlsOptions;
  readonly username?: string;
  readonly password?: string;
  /** A personal access token, instead of user name and password. */
  readonly token?: string;
  /**
   * In a cluster, `false` stays on a node that was named in place of going on to the one that leads: for what
   * is asked of a node itself, as its files are. Default true.
   */
  readonly followLeader?: boolean;
  /** `false` turns reconnecting off: the first loss ends the client. */
  readonly reconnect?: ReconnectOptions | false;
  /** A ping leaves when nothing else did for this long. Default 5000; 0 turns it off. */
  readonly heartbeatIntervalMs?: number;
  /** How long one request may take in all, repetitions and reconnecting included. Default 30 000. */
  readonly requestTimeoutMs?: number;
  /** How long opening one connection may take. Default 5000. */
  readonly connectTimeoutMs?: number;
  /** Requests on the wire at once; the others wait. Default 16. */
  readonly inFlightMax?: number;
  /**
   * Whether a send whose connection died before the answer is sent again with the same identity. Default
   * true: at least once, in order. With false such a send fails with `OutcomeUnknown`.
   */
  readonly retrySends?: boolean;
  /** Sets TCP_NODELAY. Default true: the client batches by itself. */
  readonly noDelay?: boolean;
  /** Memory for outgoing batches in bytes, reserved with the first send. Default 64 MiB, at least 2 MiB. */
  readonly sendMemoryLength?: number;
  /** Ends the client and everything it does. */
  readonly signal?: AbortSignal;
  /** Replaces clock, chance and connector, for tests and other runtimes. */
  readonly platform?: ClientPlatform;
}

/** Who logs in. */
export type Credentials =
  | { readonly kind: "password"; readonly username: string; readonly password: string }
  | { readonly kind: "token"; readonly token: string };

/** Options with every default filled in and checked. */
export interface ResolvedOptions {
  readonly addresses: readonly ServerAddress[];
  readonly transport: ClientTransport;
  readonly tls: TlsOptions | undefined;
  readonly credentials: Credentials;
  readonly followLeader: boolean;
  readonly reconnect: Required<ReconnectOptions>;
  readonly heartbeatIntervalMs: number;
  readonly requestTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly inFlightMax: number;
  readonly retrySends: boolean;
  readonly noDelay: boolean;
  readonly sendMemoryLength: number;
  readonly signal: AbortSignal | undefined;
}

const RECONNECT_DEFAULTS: Required<ReconnectOptions> = {
  retries: Number.POSITIVE_INFINITY,
  intervalMs: 250,
  factor: 2,
  delayMaxMs: 10_000,
  jitter: 0.3,
};

/** 64 MiB: room for one frame of the largest size or for dozens of ordinary batches in flight. */
const SEND_MEMORY_LENGTH = 67_108_864;

/**
 * Most requests one connection carries at once. Half the 128 numbers a server remembers per partition, so
 * that what a lost connection left unanswered is still known when it comes again.
 */
const IN_FLIGHT_LIMIT = 64;

/** The memory for sends: what the checksums take of it and one block at least, what 32 bits reach at most. */
const SEND_MEMORY_LENGTH_MIN = 2_097_152;
const SEND_MEMORY_LENGTH_LIMIT = 4_294_901_760;

/**
 * The longest a timer runs, 24.8 days: beyond it the timers of JavaScript fire at once. `Infinity` stands for
 * it.
 */
export const TIMER_MAX_MS = 2_147_483_647;

/** They travel behind a length of one byte. */
const CREDENTIAL_LENGTH_MAX = 255;

/** The largest number of a partition, and the largest count. */
export const U32_MAX = 4_294_967_295;

/** What a number may be. */
export interface NumberBounds {
  readonly min: number;
  readonly max?: number;
  /** A count or a length: no fraction. */
  readonly isWhole?: boolean;
}

/**
 * Refuses a number outside its bounds.
 *
 * @throws CodedError InvalidArgument that names the option and its bounds
 */
export function checkedNumber(name: string, value: number, bounds: NumberBounds): number {
  if (typeof value !== "number") {
    throw new CodedError(ErrorCode.InvalidArgument, `${name} is ${nameOf(value)}; it must be a number.`);
  }
  const max = bounds.max ?? Number.POSITIVE_INFINITY;
  const isWhole = bounds.isWhole !== true || Number.isInteger(value) || value === Number.POSITIVE_INFINITY;
  if (value >= bounds.min && value <= max && isWhole) return value;
  if (!isWhole) throw new CodedError(ErrorCode.InvalidArgument, `${name} is ${value}; it is a whole number.`);
  const range = max === Number.POSITIVE_INFINITY ? `at least ${bounds.min}` : `${bounds.min}..=${max}`;
  throw new CodedError(ErrorCode.InvalidArgument, `${name} is ${value}; it must be ${range}.`);
}

/** As `checkedNumber`, for what travels as 32 bits: numbers of partitions and counts. */
export function checkedU32(name: string, value: number): number {
  return checkedNumber(name, value, { min: 0, max: U32_MAX, isWhole: true });
}

/**
 * For what travels as 64 bits: offsets and times.
 *
 * @throws CodedError InvalidArgument that names it and its bounds
 */
export function checkedU64(name: string, value: bigint | number): bigint {
  const isWhole = typeof value === "bigint" || Number.isSafeInteger(value);
  if (isWhole && value >= 0 && value <= U64_MAX) return BigInt(value);
  const shown = typeof value === "bigint" || typeof value === "number" ? String(value) : nameOf(value);
  const message = `${name} is ${shown}; it must be a bigint of 0..2^64-1, or a whole number below 2^53.`;
  throw new CodedError(ErrorCode.InvalidArgument, message);
}

/** As `checkedNumber`, for milliseconds: none is longer than a timer runs. */
export function checkedMs(name: string, value: number, min: number): number {
  return Math.min(checkedNumber(name, value, { min }), TIMER_MAX_MS);
}

function resolveReconnect(reconnect: ReconnectOptions | false | undefined): Required<ReconnectOptions> {
  if (reconnect === false) return { ...RECONNECT_DEFAULTS, retries: 0 };
  const filled = { ...RECONNECT_DEFAULTS, ...reconnect };
  checkedNumber("reconnect.retries", filled.retries, { min: 0, isWhole: true });
  const intervalMs = checkedMs("reconnect.intervalMs", filled.intervalMs, 0);
  checkedNumber("reconnect.factor", filled.factor, { min: 1 });
  const delayMaxMs = checkedMs("reconnect.delayMaxMs", filled.delayMaxMs, 0);
  checkedNumber("reconnect.jitter", filled.jitter, { min: 0, max: 1 });
  return { ...filled, intervalMs, delayMaxMs };
}

function resolveTransport(transport: string): ClientTransport {
  if (isClientTransport(transport)) return transport;
  const message = `The transport ${transport} is not available in this client; use tcp, ws, grpc or http.`;
  throw new CodedError(ErrorCode.FeatureUnavailable, message);
}

/** What a login can carry; whether it is right the server knows. The text is not repeated. */
function checkCredential(name: string, text: string, { min, code }: { min: number; code: number }): void {
  const length = encodeUtf8(text)?.length;
  if (length !== undefined && length >= min && length <= CREDENTIAL_LENGTH_MAX) return;
  const has = length === undefined ? "is none" : `has ${length}`;
  const message = `The ${name} of a login is text of ${min} to ${CREDENTIAL_LENGTH_MAX} bytes of UTF-8; this one ${has}.`;
  throw new CodedError(code, message);
}

function resolveCredentials(options: ClientOptions): Credentials {
  const { username, password, token } = options;
  if (token !== undefined) {
    checkCredential("token", token, { min: 1, code: ErrorCode.InvalidPersonalAccessToken });
    return { kind: "token", token };
  }
  if (username === undefined || password === undefined) {
    throw new CodedError(ErrorCode.InvalidArgument, "Say who logs in: username and password, or token.");
  }
  checkCredential("username", username, { min: 1, code: ErrorCode.InvalidUsername });
  checkCredential("password", password, { min: 0, code: ErrorCode.InvalidPassword });
  return { kind: "password", username, password };
}

/** Over HTTP one: what is on the wire when a connection is lost cannot be sent again. */
function inFlightMaxOf({ inFlightMax = 16 }: ClientOptions, transport: ClientTransport): number {
  const checked = checkedNumber("inFlightMax", inFlightMax, { min: 1, max: IN_FLIGHT_LIMIT, isWhole: true });
  return transport === "http" ? 1 : checked;
}

/**
 * Fills in defaults and checks bounds.
 *
 * @param defaultTransport  what the platform can do when nobody asks for a transport
 * @throws CodedError InvalidArgument or InvalidServerAddress, naming the option
 */
export function resolveOptions(
  options: ClientOptions,
  defaultTransport: ClientTransport = "tcp",
): ResolvedOptions {
  const transport = resolveTransport(options.transport ?? defaultTransport);
  const addresses = typeof options.address === "string" ? [options.address] : options.address;
  if (addresses?.length === 0) throw new CodedError(ErrorCode.InvalidArgument, "address is an empty list.");
  return {
    addresses: (addresses ?? ["127.0.0.1"]).map((address) => parseServerAddress(address, transport)),
    transport,
    tls: options.tls === true ? {} : options.tls === false ? undefined : options.tls,
    credentials: resolveCredentials(options),
    followLeader: options.followLeader ?? true,
    reconnect: resolveReconnect(options.reconnect),
    heartbeatIntervalMs: checkedMs("heartbeatIntervalMs", options.heartbeatIntervalMs ?? 5000, 0),
    requestTimeoutMs: checkedMs("requestTimeoutMs", options.requestTimeoutMs ?? 30_000, 1),
    connectTimeoutMs: checkedMs("connectTimeoutMs", options.connectTimeoutMs ?? 5000, 1),
    inFlightMax: inFlightMaxOf(options, transport),
    retrySends: options.retrySends ?? true,
    noDelay: options.noDelay ?? true,
    sendMemoryLength: checkedNumber("sendMemoryLength", options.sendMemoryLength ?? SEND_MEMORY_LENGTH, {
      ...{ min: SEND_MEMORY_LENGTH_MIN, max: SEND_MEMORY_LENGTH_LIMIT, isWhole: true },
    }),
    signal: options.signal,
  };
}
