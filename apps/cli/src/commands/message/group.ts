import { type AddCommand, group } from "../command.ts";
import { addMessageFlush } from "./flush.ts";
import { addMessagePoll } from "./poll.ts";
import { addMessageSend } from "./send.ts";
import { addMessageTail } from "./tail.ts";

/** `millrace message ...` */
export const addMessage: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "message", alias: "m", summary: "send, poll and follow messages" },
    [addMessageSend, addMessagePoll, addMessageTail, addMessageFlush],
    run,
  );
