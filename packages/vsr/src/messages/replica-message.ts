import type { AskToLead } from "./ask-to-lead.ts";
import type { CommitMessage } from "./commit.ts";
import type { DoViewChange } from "./do-view-change.ts";
import type { PrepareGone } from "./prepare-gone.ts";
import type { PrepareMessage } from "./prepare-message.ts";
import type { PrepareOk } from "./prepare-ok.ts";
import type { RequestPrepare } from "./request-prepare.ts";
import type { RequestStartView } from "./request-start-view.ts";
import type { StartView } from "./start-view.ts";
import type { StartViewChange } from "./start-view-change.ts";
import type { ViewNumber } from "./view-number.ts";

/** Everything replicas of one group say to each other. Each may be lost, repeated, late and out of order. */
export type ReplicaMessage =
  | PrepareMessage
  | PrepareOk
  | CommitMessage
  | StartViewChange
  | DoViewChange
  | StartView
  | RequestStartView
  | ViewNumber
  | RequestPrepare
  | PrepareGone
  | AskToLead;
