import { CodedError, ErrorCode } from "@millrace/errors";
import {
  checkName,
  decodeBody,
  decodeCreateStreamReply,
  decodeGetStreamReply,
  decodeGetStreamsReply,
  encodeCreateStream,
  encodeDeleteStream,
  encodeGetStream,
  encodePurgeStream,
  encodeUpdateStream,
} from "@millrace/protocol";
import { Millrace } from "./millrace-proto.table.ts";
import { streamMessage, topicMessage } from "./proto-objects.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";
import { optionsOf, streamOf } from "./wire-values.ts";

const { method } = Millrace;

/** Streams. */
export const streamMethods: readonly UnaryMethod[] = [
  unaryMethod(method.createStream, async (call, { name, options }) => {
    checkName(name, ErrorCode.InvalidStreamName);
    const request = { name, options: optionsOf(options) };
    const reply = await ask(call, "CreateStream", encodeCreateStream, request);
    return { stream: streamMessage(decodeBody(decodeCreateStreamReply, reply)) };
  }),
  unaryMethod(method.getStream, async (call, request) => {
    const reply = await ask(call, "GetStream", encodeGetStream, streamOf(request));
    const stream = decodeBody(decodeGetStreamReply, reply);
    if (stream === undefined) throw new CodedError(ErrorCode.StreamIdNotFound);
    return { stream: streamMessage(stream), topics: stream.topics.map(topicMessage) };
  }),
  unaryMethod(method.listStreams, async (call) => {
    const reply = await ask(call, "GetStreams");
    return { streams: decodeBody(decodeGetStreamsReply, reply).map(streamMessage) };
  }),
  unaryMethod(method.updateStream, async (call, { stream, name, options }) => {
    checkName(name, ErrorCode.InvalidStreamName);
    const request = { ...streamOf({ stream }), name, options: optionsOf(options) };
    await ask(call, "UpdateStream", encodeUpdateStream, request);
    return {};
  }),
  unaryMethod(method.deleteStream, async (call, request) => {
    await ask(call, "DeleteStream", encodeDeleteStream, streamOf(request));
    return {};
  }),
  unaryMethod(method.purgeStream, async (call, request) => {
    await ask(call, "PurgeStream", encodePurgeStream, streamOf(request));
    return {};
  }),
];
