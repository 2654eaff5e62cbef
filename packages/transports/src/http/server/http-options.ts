import type { BlockPool, ChecksumKernel } from "@millrace/framing";
import type { Clock, Connection, Log, Metrics, Random } from "@millrace/platform";
import type { SendConfirmation } from "@millrace/protocol";
import type { ServerTls } from "../../tls/index.ts";
import type { JwtOptions } from "./access/jwt-options.ts";
import type { OptionChecks } from "./routes/option-faults.ts";

/** Which pages of other origins may use the API from a browser. */
export interface CorsOptions {
  /** Exactly `["*"]`, or origins. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly credentials: boolean;
  readonly privateNetwork: boolean;
}

/** Where metrics are read, and their text. */
export interface MetricsPage {
  /** Path, beginning with `/`. */
  readonly path: string;
  readonly contentType: string;
  text(): Promise<string>;
}

/** What the HTTP API is made of. */
export interface ListenHttpOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** With it everything is encrypted, and HTTP/2 is spoken beside HTTP/1.1. */
  readonly tls?: ServerTls | undefined;
  /** The broker: it gets one connection per logged-in client. */
  readonly onConnection: (connection: Connection) => void;
  /** The kernel of the broker and the pool cut from its memory: batches are written and sealed in place. */
  readonly kernel: ChecksumKernel;
  readonly leases: BlockPool;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly jwt: JwtOptions;
  readonly cors?: CorsOptions | undefined;
  readonly metricsPage?: MetricsPage | undefined;
  /** Sockets at once; one more is closed. */
  readonly socketsMax: number;
  /** Logged-in clients at once; one more is answered with 503. */
  readonly sessionsMax: number;
  /** How long the head of a request may take; default 10 s. */
  readonly headersMaxMs?: number;
  /** Longest body of a request in bytes; a longer one is answered with 413. */
  readonly bodyLengthMax: number;
  /** Why nobody can log in just now, in words, where it is known. */
  readonly whyNoLogin?: (() => string | undefined) | undefined;
  /** The node's current view, for the header `iggy-view`. */
  readonly view: () => number;
  /** Word for the header `iggy-durability` of a confirmed batch. */
  readonly durabilityOf: (confirmation: SendConfirmation) => string;
  /** How the broker judges options, to name the one it refused. */
  readonly optionChecks: OptionChecks;
  /** Version of the server, for the document that describes the API. */
  readonly version: string;
}
