import {
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { CodedError, ErrorCode } from "@millrace/errors";
import { disconnected } from "../../connection-lost.ts";
import { type ClientTls, tlsConnectOptions } from "../../tls/client-tls.ts";
import { ApiAnswer } from "./api-answer.ts";

/** One request in the words of the API. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Encoded path, with its query. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  /** Goes as bearer token. */
  readonly token?: string | undefined;
}

/** Which server, and how to reach it. */
export interface ApiPeerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: ClientTls;
  /** Longest answer that is read, in bytes. */
  readonly answerLengthMax: number;
}

/**
 * A server of the HTTP API, over one connection that is kept open between requests and opened again when it
 * was lost. HTTP/1.1: one request at a time.
 */
export class ApiPeer {
  readonly #options: ApiPeerOptions;
  readonly #agent: HttpAgent;

  constructor(options: ApiPeerOptions) {
    this.#options = options;
    const keep = { keepAlive: true, maxSockets: 1 };
    const { tls } = options;
    this.#agent =
      tls === undefined ? new HttpAgent(keep) : new HttpsAgent({ ...keep, ...tlsConnectOptions(tls) });
  }

  /**
   * Sends one request and reads the answer.
   * @throws CodedError FrameTooLarge for an answer that is too long
   * @throws Error the system's, when there is no connection or it is lost
   */
  send(request: ApiRequest): Promise<ApiAnswer> {
    return new Promise((resolve, reject) => {
      const open = this.#options.tls === undefined ? requestHttp : requestHttps;
      const sent = open(this.#requestOptions(request), (response) => {
        readWhole(response, this.#options.answerLengthMax).then(
          (bytes) => resolve(new ApiAnswer(response.statusCode ?? 0, bytes)),
          reject,
        );
      });
      sent.once("error", reject);
      sent.end(request.body);
    });
  }

  /** Closes the connection; a request that waits fails. */
  close(): void {
    this.#agent.destroy();
  }

  #requestOptions({ method, path, body, token }: ApiRequest): RequestOptions {
    const { host, port } = this.#options;
    const headers: Record<string, string | number> = { accept: "application/json" };
    if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
    if (body !== undefined) {
      headers["content-type"] = "application/json";
      headers["content-length"] = Buffer.byteLength(body);
    }
    return { host, port, method, path, headers, agent: this.#agent };
  }
}

async function readWhole(response: IncomingMessage, lengthMax: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > lengthMax) throw tooLong(lengthMax);
    chunks.push(chunk);
  }
  if (!response.complete) throw disconnected();
  return Buffer.concat(chunks, length);
}

function tooLong(lengthMax: number): CodedError {
  const message = `The server's answer is longer than ${lengthMax} bytes.`;
  return new CodedError(ErrorCode.FrameTooLarge, message, { details: { lengthMax } });
}
