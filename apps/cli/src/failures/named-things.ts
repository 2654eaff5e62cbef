import { type CodedError, ErrorCode } from "@millrace/errors";
import { readsAsId } from "../formats/id-or-name.ts";
import type { Target } from "./next-step.ts";

type Sentence = (target: Target) => string | undefined;

/** What a code says of the things that the command line names; undefined where it names none. */
const SENTENCES: ReadonlyMap<number, Sentence> = new Map<number, Sentence>([
  [ErrorCode.StreamIdNotFound, missingStream],
  [ErrorCode.StreamNameNotFound, missingStream],
  [ErrorCode.TopicIdNotFound, missingTopic],
  [ErrorCode.TopicNameNotFound, missingTopic],
  [ErrorCode.ConsumerGroupIdNotFound, missingGroup],
  [ErrorCode.PartitionNotFound, missingPartition],
  [ErrorCode.ConsumerOffsetNotFound, missingOffset],
  [ErrorCode.ResourceNotFound, missingOwn],
  [ErrorCode.StreamNameAlreadyExists, ({ name }) => name && `There is a stream ${shown(name)} already.`],
  [
    ErrorCode.TopicNameAlreadyExists,
    ({ name, stream }) => name && `There is a topic ${shown(name)}${inStream(stream)} already.`,
  ],
  [
    ErrorCode.ConsumerGroupNameAlreadyExists,
    ({ name, topic }) => name && `There is a consumer group ${shown(name)}${inTopic(topic)} already.`,
  ],
]);

/**
 * What went wrong in the words of the command line, where the server only had a code for it: which stream it
 * was, people see at once then.
 */
export function sentenceOf(error: CodedError, target: Target): string {
  if (!error.message.startsWith("The server answered ")) return error.message;
  return SENTENCES.get(error.code)?.(target) ?? error.message;
}

/** Behind what to do: how something is addressed whose name looks like an id. */
export function aboutDigits(thing: string, typed: string | undefined): string {
  if (typed === undefined || !readsAsId(typed)) return "";
  return `. Digits only are taken for an id: a ${thing} with such a name is addressed by the id it has there`;
}

function missingStream({ stream }: Target): string | undefined {
  return stream && `There is no stream ${shown(stream)}.`;
}

function missingTopic({ stream, topic }: Target): string | undefined {
  return topic && `There is no topic ${shown(topic)}${inStream(stream)}.`;
}

function missingGroup({ group, consumer, topic }: Target): string | undefined {
  const typed = group ?? consumer;
  return typed && `There is no consumer group ${shown(typed)}${inTopic(topic)}.`;
}

function missingPartition({ stream, topic, partition }: Target): string | undefined {
  if (topic === undefined || partition === undefined) return undefined;
  return `Topic ${shown(topic)}${inStream(stream, "of")} has no partition ${partition}.`;
}

function missingOffset({ consumer, topic, partition }: Target): string | undefined {
  if (consumer === undefined || partition === undefined) return undefined;
  return `No offset is stored for consumer ${shown(consumer)} in partition ${partition}${inTopic(topic, "of")}.`;
}

function missingOwn({ command, user, name }: Target): string | undefined {
  if (command === "pat delete") return name && `You have no token ${shown(name)}.`;
  return user && `There is no user ${shown(user)}.`;
}

function inStream(stream: string | undefined, how = "in"): string {
  return stream === undefined ? "" : ` ${how} stream ${shown(stream)}`;
}

function inTopic(topic: string | undefined, how = "in"): string {
  return topic === undefined ? "" : ` ${how} topic ${shown(topic)}`;
}

/** As `describe` has it: `#7` for an id, quotes for a name. */
function shown(typed: string): string {
  return readsAsId(typed) ? `#${typed}` : `"${typed}"`;
}
