import type { MethodDefinition } from "@grpc/grpc-js";
import { decodeFrame, encodeFrame } from "./frame-marshaller.ts";

/** Name of the service in `millrace.proto`. */
export const SERVICE_NAME = "millrace.v1.Millrace";

/** `Exchange` of `millrace.proto`, with a marshaller that hands over views. */
export const EXCHANGE: MethodDefinition<Uint8Array, Uint8Array> = {
  path: `/${SERVICE_NAME}/Exchange`,
  requestStream: true,
  responseStream: true,
  requestSerialize: encodeFrame,
  requestDeserialize: decodeFrame,
  responseSerialize: encodeFrame,
  responseDeserialize: decodeFrame,
};

/** A frame's message, and beside it the tag and length of its field. */
const FRAME_PREFIX_MAX = 16;

/** Bytes a server may send a client before it hears that they were taken: a few full batches. */
const WINDOW_LENGTH = 4_194_304;

/** Channel options of both halves: what one message may take, and no limit of gRPC's own below it. */
export function channelOptions(messageLengthMax: number): Record<string, number> {
  return {
    "grpc.max_receive_message_length": messageLengthMax + FRAME_PREFIX_MAX,
    "grpc.max_send_message_length": -1,
    "grpc-node.flow_control_window": WINDOW_LENGTH,
  };
}
