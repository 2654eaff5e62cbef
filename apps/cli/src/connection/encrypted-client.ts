import type { Message, Payload } from "@millrace/client";
import { UsageError } from "../failures/usage-error.ts";
import type { Client, GroupReader, ShownMessage } from "./client.ts";
import type { PayloadCipher } from "./payload-cipher.ts";

/**
 * A client whose payloads are encrypted on their way to the server and decrypted on their way back.
 * Everything else, headers included, is as it was.
 */
export function encryptedClient(client: Client, cipher: PayloadCipher): Client {
  const own: Pick<Client, "pollMessages" | "producer" | "consumerGroup"> = {
    consumerGroup: (options) => decryptingReader(client.consumerGroup(options), cipher),
    async pollMessages(poll) {
      const polled = await client.pollMessages(poll);
      const messages = polled.messages.map((message) => decrypted(message, cipher));
      return { partitionId: polled.partitionId, currentOffset: polled.currentOffset, messages };
    },
    producer(options) {
      const producer = client.producer(options);
      const send = (messages: Message | readonly Message[]) =>
        producer.send([messages].flat().map((message) => encrypted(message as Message, cipher)));
      return { send, close: () => producer.close() };
    },
  };
  return new Proxy(client, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Shows what a reader reads decrypted, and commits what it was. */
function decryptingReader(reader: GroupReader, cipher: PayloadCipher): GroupReader {
  const originals = new WeakMap<ShownMessage, ShownMessage>();
  return {
    async *[Symbol.asyncIterator]() {
      for await (const message of reader) {
        const shown = decrypted(message, cipher);
        originals.set(shown, message);
        yield shown;
      }
      return undefined;
    },
    commit: (message) => reader.commit(message && (originals.get(message) ?? message)),
    close: () => reader.close(),
  };
}

function encrypted(message: Message, cipher: PayloadCipher): Message {
  return { ...message, payload: cipher.encrypt(bytesOf(message.payload)) };
}

/** Commands send texts and bytes; nothing else is made here. */
function bytesOf(payload: Payload): Uint8Array {
  if (typeof payload === "string") return new TextEncoder().encode(payload);
  if (payload instanceof Uint8Array) return payload;
  throw new UsageError("Only texts and bytes can be encrypted.");
}

function decrypted(message: ShownMessage, cipher: PayloadCipher): ShownMessage {
  const { partitionId, offset, timestamp, originTimestamp, id, checksum, userHeaders } = message;
  return {
    ...{ partitionId, offset, timestamp, originTimestamp, id, checksum, userHeaders },
    payload: cipher.decrypt(message.payload),
    get headerFields() {
      return message.headerFields;
    },
  };
}
