import type { ClientOptions, TlsOptions } from "@millrace/client";
import { InvalidArgumentError } from "commander";
import { addressText } from "./address.ts";
import type { ConnectionTexts } from "./connection-texts.ts";

const STANDARD = { url: "http://localhost:3000", retries: "3" } as const;
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** The server of an HTTP API, and how to reach it. */
export interface HttpTarget {
  /** `host:port`. */
  readonly address: string;
  readonly client: Pick<ClientOptions, "transport" | "tls" | "reconnect">;
}

/**
 * The address of an HTTP API: scheme, host and port, with nothing behind.
 * @throws InvalidArgumentError when it is none
 */
export function parseApiUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare = url?.pathname === "/" && url.search === "" && url.hash === "" && url.username === "";
  if (url !== undefined && isBare && Object.hasOwn(PORTS, url.protocol)) return url;
  throw new InvalidArgumentError("It must have the form http://HOST:PORT or https://HOST:PORT.");
}

/** What the options of HTTP come to: the API's address decides about TLS, by its `https`. */
export function httpTarget(texts: ConnectionTexts): HttpTarget {
  const { protocol, hostname, port } = parseApiUrl(texts["httpApiUrl"] ?? STANDARD.url);
  const retries = texts["httpRetries"] ?? STANDARD.retries;
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    address: addressText({ host, port: port === "" ? (PORTS[protocol] as number) : Number(port) }),
    client: {
      transport: "http",
      tls: protocol === "https:" && tlsOf(texts),
      reconnect: { retries: retries === "unlimited" ? Number.POSITIVE_INFINITY : Number(retries) },
    },
  };
}

/** What a connection string for HTTP says, as the texts of options. */
export function httpTexts(options: ClientOptions): Readonly<Record<string, string | undefined>> {
  const { address, tls, reconnect } = options;
  const isEncrypted = tls !== undefined && tls !== false;
  const check: TlsOptions = typeof tls === "object" ? tls : {};
  const retries = reconnect === false ? undefined : reconnect?.retries;
  return {
    transport: "http",
    httpApiUrl: typeof address === "string" ? `${isEncrypted ? "https" : "http"}://${address}` : undefined,
    httpRetries: retries === Number.POSITIVE_INFINITY ? "unlimited" : retries?.toString(),
    httpTlsDomain: check.domain,
    httpTlsCaFile: check.caFile,
    httpTlsValidateCertificate: check.validate?.toString(),
  };
}

function tlsOf(texts: ConnectionTexts): TlsOptions {
  const { httpTlsDomain: domain, httpTlsCaFile: caFile } = texts;
  return {
    validate: texts["httpTlsValidateCertificate"] !== "false",
    ...(domain === undefined ? {} : { domain }),
    ...(caFile === undefined ? {} : { caFile }),
  };
}
