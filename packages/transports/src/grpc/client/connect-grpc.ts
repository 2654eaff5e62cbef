import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type StatusObject,
  status,
} from "@grpc/grpc-js";
import { CodedError, ErrorCode } from "@millrace/errors";
import { type Connection, TransportKind } from "@millrace/platform";
import { ExactSpace } from "../../assembly/message-space.ts";
import { CarriedConnection } from "../../carried/carried-connection.ts";
import { cannotConnect, connectingGivenUp } from "../../connect-failures.ts";
import type { ConnectOptions } from "../../connect-options.ts";
import { addressText } from "../../listening/addresses.ts";
import { type ClientTls, tlsConnectOptions } from "../../tls/client-tls.ts";
import { channelOptions, EXCHANGE } from "../exchange-definition.ts";
import { isLoopback } from "../loopback.ts";
import { ClientCarrier } from "./client-carrier.ts";

/** Where to connect to and what to read into. */
export interface ConnectGrpcOptions extends ConnectOptions {
  /** Encrypts the connection and checks the server. */
  readonly tls?: ClientTls;
  /**
   * `Bearer TOKEN` or `Basic BASE64`: the server logs the call in, its first message is the answer. Without
   * `tls` it goes to this machine only.
   */
  readonly authorization?: string;
}

type Exchange = ClientDuplexStream<Uint8Array, Uint8Array>;

/** How the library words what is wrong with a certificate. */
const CERTIFICATE_REFUSED = /certificate|altnames|issuer/i;

/**
 * Opens one connection: a channel of its own with one call. Set its callbacks at once when the promise
 * resolves.
 *
 * @throws CodedError `CannotEstablishConnection` with host, port and cause, also after `timeoutMs`;
 *   `InvalidTlsCertificate`; `InvalidConfiguration` for credentials in clear; `Aborted` by the signal
 */
export function connectGrpc(options: ConnectGrpcOptions): Promise<Connection> {
  const { timeoutMs, signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(connectingGivenUp(options));
    const inClear = options.authorization !== undefined && options.tls === undefined;
    if (inClear && !isLoopback(options.host)) return reject(credentialsInClear(options));
    const client = new Client(addressText(options), channelCredentials(options.tls), {
      ...channelOptions(options.messageLengthMax),
      "grpc.use_local_subchannel_pool": 1,
      ...(options.tls?.serverName === undefined
        ? {}
        : { "grpc.ssl_target_name_override": options.tls.serverName }),
    });
    const call: Exchange = openCall(client, options);
    const fail = (error: CodedError) => {
      settle();
      call.cancel();
      client.close();
      reject(error);
    };
    const onStatus = (ended: StatusObject) => fail(failureOf(ended, options));
    const onAbort = () => fail(connectingGivenUp(options));
    const timer = setTimeout(
      () => fail(cannotConnect(options, { over: "gRPC", reason: `no answer in ${timeoutMs} ms` })),
      timeoutMs,
    );
    const settle = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      call.off("status", onStatus);
    };
    call.on("error", () => {});
    call.once("status", onStatus);
    signal?.addEventListener("abort", onAbort);
    call.once("metadata", () => {
      settle();
      resolve(connected(client, call, options));
    });
  });
}

function openCall(client: Client, { authorization }: ConnectGrpcOptions): Exchange {
  const metadata = new Metadata();
  if (authorization !== undefined) metadata.set("authorization", authorization);
  const { path, requestSerialize, responseDeserialize } = EXCHANGE;
  return client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata);
}

function connected(client: Client, call: Exchange, options: ConnectGrpcOptions): Connection {
  const connection = new CarriedConnection({
    transport: TransportKind.grpc,
    remoteAddress: addressText(options),
    space: new ExactSpace(options.leases),
    messageLengthMax: options.messageLengthMax,
    onGone: () => client.close(),
  });
  connection.attach(new ClientCarrier(call, connection));
  return connection;
}

function channelCredentials(tls: ClientTls | undefined): ChannelCredentials {
  if (tls === undefined) return credentials.createInsecure();
  const { ca, rejectUnauthorized } = tlsConnectOptions(tls);
  const authorities = ca === undefined ? null : Buffer.from(ca);
  return credentials.createSsl(authorities, null, null, { rejectUnauthorized });
}

function failureOf({ code, details }: StatusObject, options: ConnectGrpcOptions): CodedError {
  const { host, port } = options;
  if (code === status.UNAVAILABLE && CERTIFICATE_REFUSED.test(details)) {
    const text = `The certificate of ${host}:${port} was refused (${details}): name its authority, or the host it is for.`;
    return new CodedError(ErrorCode.InvalidTlsCertificate, text, { details: { host, port } });
  }
  return cannotConnect(options, { over: "gRPC", reason: `${status[code]}: ${details}` });
}

function credentialsInClear({ host, port }: ConnectGrpcOptions): CodedError {
  const text = `Credentials for ${host}:${port} would travel in clear: give tls.`;
  return new CodedError(ErrorCode.InvalidConfiguration, text, { details: { host, port } });
}
