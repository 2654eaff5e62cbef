import {
  decodeCreateStreamReply,
  decodeGetStreamReply,
  decodeGetStreamsReply,
  encodeCreateStream,
  encodeDeleteStream,
  encodeGetStream,
  encodePurgeStream,
  encodeUpdateStream,
  type Identifier,
  toIdentifier,
} from "@millrace/protocol";
import { nothing } from "../connection/requester.ts";
import { type Stream, type StreamDetails, streamDetailsOf, streamOf } from "./catalog-shapes.ts";
import { checkedName } from "./check-length.ts";
import { type RawOptionValue, rawOptionField } from "./option-values.ts";
import { SystemCalls } from "./system-calls.ts";

/**
 * How a call names a stream, topic or consumer: a number is an id, text is a name even when it holds only
 * digits.
 */
export type Name = number | string | Identifier;

/** Raw options by key; servers of 0.9.0 know none for streams and answer UnsupportedOptionKey. */
export interface StreamOptions {
  readonly options?: Readonly<Record<string, RawOptionValue>>;
}

function optionEntries(options: StreamOptions) {
  return Object.entries(options.options ?? {}).map(([key, value]) => ({ key, value: rawOptionField(value) }));
}

/** Calls about streams. Sizes, times and counts of messages are bigint. */
export class StreamCalls extends SystemCalls {
  /** Creates a stream. Throws StreamNameAlreadyExists. */
  createStream(name: string, options: StreamOptions = {}): Promise<StreamDetails> {
    return this.request({
      command: "CreateStream",
      body: () => encodeCreateStream({ name: checkedName("stream", name), options: optionEntries(options) }),
      decode: (payload) => streamDetailsOf(decodeCreateStreamReply(payload)),
    });
  }

  /** One stream with its topics, or undefined when there is none. */
  getStream(stream: Name): Promise<StreamDetails | undefined> {
    return this.request({
      command: "GetStream",
      body: () => encodeGetStream({ stream: toIdentifier(stream) }),
      decode: (payload) => {
        const record = decodeGetStreamReply(payload);
        return record === undefined ? undefined : streamDetailsOf(record);
      },
    });
  }

  /** All streams the user may see, sorted by id. */
  getStreams(): Promise<readonly Stream[]> {
    return this.request({
      command: "GetStreams",
      decode: (payload) => decodeGetStreamsReply(payload).map(streamOf),
    });
  }

  /** Renames a stream. Throws StreamIdNotFound, StreamNameAlreadyExists. */
  updateStream(stream: Name, update: { readonly name: string } & StreamOptions): Promise<void> {
    const body = () =>
      encodeUpdateStream({
        stream: toIdentifier(stream),
        name: checkedName("stream", update.name),
        options: optionEntries(update),
      });
    return this.request({ command: "UpdateStream", body, decode: nothing });
  }

  /** Deletes a stream with everything in it. Throws StreamIdNotFound. */
  deleteStream(stream: Name): Promise<void> {
    const body = () => encodeDeleteStream({ stream: toIdentifier(stream) });
    return this.request({ command: "DeleteStream", body, decode: nothing });
  }

  /** Removes every message of a stream; topics and partitions stay. Throws StreamIdNotFound. */
  purgeStream(stream: Name): Promise<void> {
    const body = () => encodePurgeStream({ stream: toIdentifier(stream) });
    return this.request({ command: "PurgeStream", body, decode: nothing });
  }
}
