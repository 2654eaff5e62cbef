import { ErrorCode } from "@millrace/errors";
import {
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
import { notFound } from "../../errors/http-error.ts";
import { Fields } from "../../json/fields.ts";
import { streamDetailsJson, streamJson } from "../../objects/stream-json.ts";
import { schema } from "../openapi/schemas.table.ts";
import { namingOption } from "./option-faults.ts";
import { optionsOf } from "./options-of.ts";
import type { Route } from "./route.ts";
import { streamOf } from "./targets.ts";

const tag = "streams";

/** Streams. */
export const streamRoutes: readonly Route[] = [
  {
    method: "GET",
    url: "/streams",
    tag,
    summary: "All streams",
    status: 200,
    answer: schema.listOf(schema.stream),
    async handle({ session }) {
      return decodeBody(decodeGetStreamsReply, await session.ask("GetStreams")).map(streamJson);
    },
  },
  {
    method: "POST",
    url: "/streams",
    tag,
    summary: "Creates a stream",
    status: 200,
    body: schema.object({ name: schema.text, options: schema.optionTexts }, ["name"]),
    answer: schema.streamDetails,
    async handle({ session, body, optionChecks }) {
      const stream = readStream(body);
      const asked = session.ask("CreateStream", encodeCreateStream(stream));
      const reply = await namingOption(asked, Fields.ofBody(body), () => optionChecks.none(stream.options));
      return streamDetailsJson(decodeBody(decodeCreateStreamReply, reply));
    },
  },
  {
    method: "GET",
    url: "/streams/:stream_id",
    tag,
    summary: "A stream with its topics",
    status: 200,
    answer: schema.streamDetails,
    async handle(call) {
      const reply = await call.session.ask("GetStream", encodeGetStream(streamOf(call)));
      const stream = decodeBody(decodeGetStreamReply, reply);
      if (stream === undefined) throw notFound();
      return streamDetailsJson(stream);
    },
  },
  {
    method: "PUT",
    url: "/streams/:stream_id",
    tag,
    summary: "Renames a stream",
    status: 204,
    body: schema.object({ name: schema.text, options: schema.optionTexts }, ["name"]),
    async handle(call) {
      const stream = readStream(call.body);
      const asked = call.session.ask("UpdateStream", encodeUpdateStream({ ...streamOf(call), ...stream }));
      await namingOption(asked, Fields.ofBody(call.body), () => call.optionChecks.none(stream.options));
      return undefined;
    },
  },
  {
    method: "DELETE",
    url: "/streams/:stream_id",
    tag,
    summary: "Deletes a stream and everything in it",
    status: 204,
    async handle(call) {
      await call.session.ask("DeleteStream", encodeDeleteStream(streamOf(call)));
      return undefined;
    },
  },
  {
    method: "DELETE",
    url: "/streams/:stream_id/purge",
    tag,
    summary: "Deletes every message of a stream",
    status: 204,
    async handle(call) {
      await call.session.ask("PurgeStream", encodePurgeStream(streamOf(call)));
      return undefined;
    },
  },
];

function readStream(body: unknown) {
  const fields = Fields.ofBody(body);
  const name = fields.name("name", ErrorCode.InvalidStreamName);
  return { name, options: optionsOf(fields) };
}
