import { once } from "node:events";
import { Client, credentials } from "@grpc/grpc-js";
import { WebSocket } from "ws";
import { CarriedLoad, type LoadCarrier } from "./carried-load.ts";
import { compare, type Figure, measure } from "./figure.ts";
import { GOALS } from "./goals.ts";
import type { LoadConnection } from "./load-connection.ts";
import { logIn, type MillraceTarget, openClient, startMillrace } from "./millrace-target.ts";
import { CLIENT } from "./requests.ts";

const PAYLOAD_LENGTH = 256;
const MESSAGES = 1000;
const REQUESTS = 500;
const IN_FLIGHT = 8;

/** Field 1 with a length before it, as in `millrace.proto`. */
const FRAME_TAG = 10;

/** Produce 1000 x 256 B over WebSocket against the same over our own TCP. */
export function benchWebSocket(rounds: number): Promise<Figure> {
  const name = "produce 1000 x 256 B over WebSocket";
  return benchCarrier({ name, listener: "ws", goal: GOALS.websocket, rounds, open: openWebSocket });
}

/** Produce 1000 x 256 B over gRPC against the same over our own TCP. */
export function benchGrpc(rounds: number): Promise<Figure> {
  const name = "produce 1000 x 256 B over gRPC";
  return benchCarrier({ name, listener: "grpc", goal: GOALS.grpc, rounds, open: openGrpc });
}

interface CarrierBench {
  readonly name: string;
  readonly listener: "ws" | "grpc";
  readonly goal: Figure["goal"];
  readonly rounds: number;
  readonly open: (port: number) => Promise<LoadCarrier>;
}

async function benchCarrier({ name, listener, goal, rounds, open }: CarrierBench): Promise<Figure> {
  const target = await startMillrace({
    MILLRACE_GRPC_ENABLED: String(listener === "grpc"),
    MILLRACE_GRPC_ADDRESS: "127.0.0.1:0",
  });
  const tcp = await openClient(target.port);
  const load = new CarriedLoad(await open(target.portOf(listener)));
  const carried = { connection: load, requests: await logIn(load, CLIENT + 1n) };
  const figure = await compare(
    { name, limitName: "our own TCP", goal, rounds },
    () => produce(target, tcp),
    () => produce(target, carried),
  );
  tcp.connection.close();
  load.close();
  await target.stop();
  return figure;
}

interface Side {
  readonly connection: LoadConnection | CarriedLoad;
  readonly requests: Awaited<ReturnType<typeof logIn>>;
}

/** One round on a stream of its own. */
async function produce(target: MillraceTarget, { connection, requests }: Side) {
  await connection.call(requests.createStream("bench"));
  await connection.call(requests.createTopic("bench", "t"));
  const request = requests.send("bench", "t", MESSAGES, PAYLOAD_LENGTH);
  const next = requests.rotate(request, IN_FLIGHT * 2);
  const cost = await measure(target.pid, REQUESTS * MESSAGES, REQUESTS * request.length, () =>
    connection.pump(REQUESTS, IN_FLIGHT, next),
  );
  await connection.call(requests.deleteStream("bench"));
  return cost;
}

async function openWebSocket(port: number): Promise<LoadCarrier> {
  const webSocket = new WebSocket(`ws://127.0.0.1:${port}/`, { perMessageDeflate: false });
  await once(webSocket, "open");
  const carrier: LoadCarrier = {
    send: (message) => webSocket.send(message),
    onMessage: () => {},
    close: () => webSocket.terminate(),
  };
  webSocket.on("message", (reply: Buffer) => carrier.onMessage(reply));
  return carrier;
}

async function openGrpc(port: number): Promise<LoadCarrier> {
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    "grpc.max_receive_message_length": -1,
  });
  const call = client.makeBidiStreamRequest("/millrace.v1.Millrace/Exchange", encodeFrame, decodeFrame);
  call.on("error", () => {});
  await once(call, "metadata");
  const carrier: LoadCarrier = {
    send: (message) => void call.write(message),
    onMessage: () => {},
    close: () => client.close(),
  };
  call.on("data", (reply: Uint8Array) => carrier.onMessage(reply));
  return carrier;
}

/** The bench's own marshaller, so that it judges the server's. */
function encodeFrame(message: Buffer): Buffer {
  const prefix = [FRAME_TAG];
  let rest = message.length;
  for (; rest > 127; rest >>>= 7) prefix.push((rest & 127) | 128);
  return Buffer.concat([Uint8Array.from([...prefix, rest]), message]);
}

function decodeFrame(bytes: Buffer): Uint8Array {
  let at = 1;
  while ((bytes[at] ?? 0) > 127) at++;
  return bytes.subarray(at + 1);
}
