import type { MillraceClient } from "@millrace/client";

/** The calls of the client that commands make; tests bring fakes of exactly these. */
export type Client = Pick<
  MillraceClient,
  | "ping"
  | "close"
  | "getMe"
  | "getClient"
  | "getClients"
  | "getStats"
  | "getClusterMetadata"
  | "describeOptions"
  | "createStream"
  | "getStream"
  | "getStreams"
  | "updateStream"
  | "deleteStream"
  | "purgeStream"
  | "createTopic"
  | "getTopic"
  | "getTopics"
  | "updateTopic"
  | "deleteTopic"
  | "purgeTopic"
  | "createPartitions"
  | "deletePartitions"
  | "deleteSegments"
  | "pollMessages"
  | "getConsumerOffset"
  | "storeConsumerOffset"
  | "deleteConsumerOffset"
  | "producer"
>;
