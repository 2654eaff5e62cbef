import type { CommandName } from "@millrace/protocol";
import type { MakeCall } from "./api-call.ts";
import { CATALOG_CALLS } from "./catalog-calls.ts";
import { MESSAGE_CALLS } from "./message-calls.ts";
import { SYSTEM_CALLS } from "./system-calls.ts";
import { TOPIC_CALLS } from "./topic-calls.ts";
import { USER_CALLS } from "./user-calls.ts";

/** Every command that the HTTP API carries, but for `Ping`, login and logout. */
export const CALLS: ReadonlyMap<CommandName, MakeCall> = new Map(
  Object.entries({ ...SYSTEM_CALLS, ...CATALOG_CALLS, ...TOPIC_CALLS, ...MESSAGE_CALLS, ...USER_CALLS }),
) as ReadonlyMap<CommandName, MakeCall>;
