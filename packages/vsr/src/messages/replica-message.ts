import type { CommitMessage } from "./commit.ts";
import type { PrepareMessage } from "./prepare-message.ts";
import type { PrepareOk } from "./prepare-ok.ts";

/** Everything replicas of one group say to each other. */
export type ReplicaMessage = PrepareMessage | PrepareOk | CommitMessage;
