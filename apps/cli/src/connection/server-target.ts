import { type ClientOptions, parseConnectionString, type TlsOptions } from "@millrace/client";
import { CodedError, ErrorCode } from "@millrace/errors";
import { InvalidArgumentError } from "commander";
import { type Context, ContextFile } from "../contexts/context-file.ts";
import { UsageError } from "../failures/usage-error.ts";
import { parseDuration } from "../formats/duration.ts";
import type { World } from "../world.ts";
import { addressText, parseAddress } from "./address.ts";
import { CONNECTION_OPTIONS } from "./connection-options.table.ts";
import { attributeOf, contextKeyOf, typedTexts, variableOf } from "./connection-options.ts";
import type { ConnectionTexts } from "./connection-texts.ts";
import { CREDENTIAL_NAMES, type CredentialOptions, hasTypedCredentials } from "./credential-options.ts";
import type { Credentials } from "./credentials.ts";
import { httpTarget, httpTexts } from "./http-target.ts";
import { parseEncryptionKey } from "./payload-cipher.ts";

/** The server a command talks to and how: what flags, context, environment and defaults come to. */
export interface ServerTarget {
  /** `host:port`; logins and tokens are stored under it. */
  readonly address: string;
  /** Options of the client but for who logs in. */
  readonly client: Pick<ClientOptions, "transport" | "tls" | "reconnect" | "followLeader">;
  /** Key for payloads; nothing sends and shows them as they are. */
  readonly encryptionKey: Uint8Array | undefined;
  /** Credentials typed or in the context, with those of a connection string. */
  readonly typed: CredentialOptions;
  /** Credentials of a connection string in the environment. */
  readonly exported: Credentials | undefined;
}

/** What opening a session takes. */
export interface ConnectionSettings {
  readonly target: ServerTarget;
  readonly credentials: Credentials;
}

const MICROS_PER_MS = 1_000n;
const STANDARD = { transport: "tcp", retries: "10", interval: "1s" } as const;
const ADDRESSES = { tcp: "127.0.0.1:8090", websocket: "127.0.0.1:8092" } as const;

/**
 * The server of a command line. For each option the command line comes first, then the active context, then
 * the environment, then the default.
 * @throws UsageError for a connection string beside options that it contains, and for values that are none
 * @throws CodedError FeatureUnavailable for a transport that is not built; InvalidConfiguration for a context
 *         that is not there or a file that cannot be used; InvalidConnectionString
 */
export function serverTarget(options: Readonly<Record<string, unknown>>, world: World): ServerTarget {
  const context = new ContextFile(world.home).active();
  const typed = typedSource(options);
  const kept = contextSource(context);
  const exported = environmentSource(world.environment);
  const texts = { ...exported.texts, ...kept.texts, ...typed.texts };
  const credentials = hasTypedCredentials(typed.credentials)
    ? typed.credentials
    : { ...kept.credentials, ...typed.credentials };
  return { ...targetOf(texts), typed: credentials, exported: completeOf(exported.credentials) };
}

interface Source {
  readonly texts: ConnectionTexts;
  readonly credentials: CredentialOptions;
}

function typedSource(options: Readonly<Record<string, unknown>>): Source {
  const { connectionString, ...texts } = typedTexts(options);
  const credentials = pick(options, CREDENTIAL_NAMES);
  if (connectionString === undefined) return { texts, credentials };
  const others = [...Object.keys(texts), ...Object.keys(credentials)].filter(
    (name) => name !== "encryptionKey",
  );
  if (others.length === 0) return withString(connectionString, { texts, credentials });
  throw new UsageError(`--connection-string says it all; leave out ${others.map(flagOf).join(", ")}.`);
}

function contextSource({ name, values }: Context): Source {
  const named = CONNECTION_OPTIONS.map((row) => [row, values[contextKeyOf(row)]] as const);
  const texts: Record<string, string> = {};
  for (const [row, value] of named) {
    if (value === undefined) continue;
    checkValue(`${contextKeyOf(row)} of the context "${name}"`, () => row.check(value));
    texts[attributeOf(row)] = value;
  }
  const { username, password, token, token_name: tokenName } = values;
  const credentials = pick({ username, password, token, tokenName }, CREDENTIAL_NAMES);
  const { connectionString, ...others } = texts;
  const own = { texts: others, credentials };
  return connectionString === undefined ? own : withString(connectionString, own);
}

function environmentSource(environment: World["environment"]): Source {
  const texts: Record<string, string> = {};
  for (const row of CONNECTION_OPTIONS) {
    const variable = variableOf(row);
    const value = variable === undefined ? undefined : environment[variable];
    if (variable === undefined || value === undefined || value === "") continue;
    checkValue(variable, () => row.check(value));
    texts[attributeOf(row)] = value;
  }
  const { connectionString, ...others } = texts;
  const own = { texts: others, credentials: {} };
  return connectionString === undefined ? own : withString(connectionString, own);
}

/** What a connection string says, below what is said beside it. */
function withString(connectionString: string, own: Source): Source {
  const said = parseConnectionString(connectionString);
  const texts = said.transport === "http" ? httpTexts(said) : socketTexts(said);
  const { username, password, token } = said;
  const credentials = pick({ username, password, token }, CREDENTIAL_NAMES);
  return {
    texts: { ...defined(texts), ...own.texts },
    credentials: hasTypedCredentials(own.credentials) ? own.credentials : credentials,
  };
}

function socketTexts({ transport = "tcp", address, tls, reconnect }: ClientOptions) {
  if (transport === "grpc" || transport === "http") throw notBuilt("gRPC");
  const prefix = prefixOf(transport);
  const { retries, intervalMs } = reconnect === false ? {} : (reconnect ?? {});
  const check: TlsOptions = typeof tls === "object" ? tls : {};
  return {
    transport,
    [`${prefix}ServerAddress`]: typeof address === "string" ? address : undefined,
    [`${prefix}ReconnectionMaxRetries`]:
      retries === Number.POSITIVE_INFINITY ? "unlimited" : retries?.toString(),
    [`${prefix}ReconnectionInterval`]:
      intervalMs === undefined ? undefined : `${Math.round(intervalMs * 1000)}us`,
    [`${prefix}TlsEnabled`]: String(tls !== undefined && tls !== false),
    [`${prefix}TlsDomain`]: check.domain,
    [`${prefix}TlsCaFile`]: check.caFile,
    [`${prefix}TlsValidateCertificate`]: check.validate?.toString(),
  };
}

function targetOf(texts: ConnectionTexts): Omit<ServerTarget, "typed" | "exported"> {
  const { transport = STANDARD.transport, encryptionKey } = texts;
  if (transport === "quic") throw notBuilt("QUIC");
  return {
    ...(transport === "http" ? httpTarget(texts) : socketTarget(transport, texts)),
    encryptionKey: encryptionKey === undefined ? undefined : parseEncryptionKey(encryptionKey),
  };
}

function socketTarget(transport: string, texts: ConnectionTexts) {
  const name = transport === "ws" || transport === "websocket" ? ("ws" as const) : ("tcp" as const);
  const prefix = prefixOf(name);
  const text = (option: string) => texts[`${prefix}${option}`];
  const retries = text("ReconnectionMaxRetries") ?? STANDARD.retries;
  const interval = parseDuration(text("ReconnectionInterval") ?? STANDARD.interval);
  return {
    address: addressText(parseAddress(text("ServerAddress") ?? ADDRESSES[prefix])),
    client: {
      transport: name,
      tls: text("TlsEnabled") === "true" && tlsOf(text),
      reconnect: {
        retries: retries === "unlimited" ? Number.POSITIVE_INFINITY : Number(retries),
        intervalMs: Number(interval / MICROS_PER_MS),
        factor: 1,
      },
    },
  };
}

function tlsOf(text: (option: string) => string | undefined): TlsOptions {
  const [domain, caFile] = [text("TlsDomain"), text("TlsCaFile")];
  return {
    validate: text("TlsValidateCertificate") !== "false",
    ...(domain === undefined ? {} : { domain }),
    ...(caFile === undefined ? {} : { caFile }),
  };
}

function prefixOf(transport: "tcp" | "ws"): "tcp" | "websocket" {
  return transport === "ws" ? "websocket" : "tcp";
}

function notBuilt(name: string): CodedError {
  const next =
    "Use --transport tcp (the default) or --transport ws, which reach every command, or --transport http.";
  const message = `The command does not speak ${name} in this release.`;
  return new CodedError(ErrorCode.FeatureUnavailable, message, { details: { next } });
}

function completeOf({ username, password, token }: CredentialOptions): Credentials | undefined {
  if (token !== undefined) return { token };
  return username === undefined || password === undefined ? undefined : { username, password };
}

function checkValue(name: string, check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new UsageError(`${name} is wrong. ${error.message}`);
  }
}

function flagOf(attribute: string): string {
  return `--${attribute.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function pick(values: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, string> {
  return defined(Object.fromEntries(names.map((name) => [name, values[name] as string | undefined])));
}

function defined(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const pairs = Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return Object.fromEntries(pairs);
}
