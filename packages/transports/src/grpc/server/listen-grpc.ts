import { Metadata, Server, ServerCredentials } from "@grpc/grpc-js";
import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { TransportKind } from "@millrace/platform";
import { SharedSpace } from "../../assembly/message-space.ts";
import { CarriedConnection } from "../../carried/carried-connection.ts";
import { addressText, cannotBind } from "../../listening/addresses.ts";
import {
  type CountingListener,
  type ListenOptions,
  longestMessage,
} from "../../listening/socket-listener.ts";
import { HANDSHAKE_MAX_MS, type ServerTls, serverTlsOptions } from "../../tls/server-tls.ts";
import { channelOptions, EXCHANGE } from "../exchange-definition.ts";
import { callCredentials, checkPrivacy, loginMessage } from "./call-credentials.ts";
import { setHttp2 } from "./http2-server.ts";
import { refuseCall } from "./refuse-call.ts";
import { type ExchangeCall, ServerCarrier } from "./server-carrier.ts";
import { type UnaryOptions, UnaryService } from "./unary/unary-service.ts";

/** An HTTP/2 connection without a call for so long is closed; a client opens another when it needs one. */
const IDLE_MAX_MS = 300_000;

/** Where to listen, what to read into and whom to tell; `connectionsMax` bounds calls of `Exchange`. */
export interface ListenGrpcOptions extends Omit<ListenOptions, "owedMaxMs" | "silentMaxMs"> {
  /** What the unary calls need; without it only `Exchange` is served. */
  readonly unary?: UnaryOptions;
  /** How long an HTTP/2 connection may be without a call; default 5 minutes. */
  readonly idleMaxMs?: number;
}

/** A gRPC listener with its counts. */
export type GrpcListener = CountingListener;

/**
 * Listens for gRPC.
 *
 * @throws CodedError `CannotBindToSocket` with host, port and cause; `InvalidTlsCertificate`
 */
export async function listenGrpc(options: ListenGrpcOptions): Promise<GrpcListener> {
  const acceptor = new GrpcAcceptor(options);
  await acceptor.listen();
  return acceptor;
}

class GrpcAcceptor implements GrpcListener {
  readonly #options: ListenGrpcOptions;
  readonly #server: Server;
  readonly #space: SharedSpace;
  readonly #messageLengthMax: number;
  readonly #unary: UnaryService | undefined;
  #port = 0;
  #open = 0;
  #refused = 0;

  constructor(options: ListenGrpcOptions) {
    this.#options = options;
    this.#space = new SharedSpace(options.leases);
    this.#messageLengthMax = longestMessage(options);
    this.#server = new Server({
      ...channelOptions(this.#messageLengthMax),
      "grpc.max_connection_idle_ms": options.idleMaxMs ?? IDLE_MAX_MS,
    });
    const exchange = (call: ExchangeCall) => this.#accept(call);
    const { unary, tls } = options;
    const shared = { ...options, messageLengthMax: this.#messageLengthMax, isEncrypted: tls !== undefined };
    this.#unary = unary === undefined ? undefined : new UnaryService({ ...shared, ...unary });
    this.#server.addService(
      { Exchange: EXCHANGE, ...this.#unary?.definition },
      { Exchange: exchange, ...this.#unary?.implementation },
    );
  }

  get connectionsOpen(): number {
    return this.#open;
  }

  get connectionsRefused(): number {
    return this.#refused;
  }

  get port(): number {
    return this.#port;
  }

  get address(): string {
    return addressText({ host: this.#options.host, port: this.#port });
  }

  listen(): Promise<void> {
    const {
      host,
      port,
      tls,
      log,
      connectionsMax: callsMax,
      handshakeMaxMs = HANDSHAKE_MAX_MS,
    } = this.#options;
    const credentials = tls === undefined ? ServerCredentials.createInsecure() : encrypted(tls);
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(addressText({ host, port }), credentials, (error, bound) => {
        if (error !== null) {
          this.#unary?.close();
          return reject(cannotBind({ host, port }, error));
        }
        const bounds = { callsMax, handshakeMaxMs, isEncrypted: tls !== undefined };
        if (!setHttp2(this.#server, bounds)) log.warn("This @grpc/grpc-js is of another kind: it is slower.");
        this.#port = bound;
        resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#server.tryShutdown(() => {});
    this.#unary?.close();
    if (this.#open === 0) this.#space.release();
    return new Promise((resolve) => setImmediate(resolve));
  }

  #accept(call: ExchangeCall): void {
    if (this.#open >= this.#options.connectionsMax) {
      this.#refused++;
      refuseCall(call, new CodedError(ErrorCode.TooManyConnections, "Too many connections are open."));
      return;
    }
    let login: Uint8Array | undefined;
    try {
      const credentials = callCredentials(call.metadata);
      if (credentials !== undefined && this.#options.tls === undefined) checkPrivacy(call.getPeer());
      login = credentials === undefined ? undefined : loginMessage(credentials);
    } catch (error) {
      if (!isCodedError(error)) throw error;
      refuseCall(call, error);
      return;
    }
    const connection = this.#connect(call);
    call.sendMetadata(new Metadata());
    if (login === undefined) return;
    connection.received(login);
    connection.readEnded();
  }

  #connect(call: ExchangeCall): CarriedConnection {
    this.#open++;
    const connection = new CarriedConnection({
      transport: TransportKind.grpc,
      remoteAddress: call.getPeer(),
      space: this.#space,
      messageLengthMax: this.#messageLengthMax,
      closeGraceMs: this.#options.closeGraceMs,
      onGone: () => {
        this.#open--;
        if (this.#open === 0) this.#space.release();
      },
    });
    connection.attach(new ServerCarrier(call, connection));
    this.#options.onConnection(connection);
    return connection;
  }
}

function encrypted(tls: ServerTls): ServerCredentials {
  const { cert, key } = serverTlsOptions(tls);
  return ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: key }]);
}
