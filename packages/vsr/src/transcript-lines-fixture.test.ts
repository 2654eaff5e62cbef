import type { ReplicaMessage } from "./messages/replica-message.ts";
import type { Output } from "./output.ts";
import type { PrepareHeader } from "./prepare-header.ts";
import type { Replica } from "./replica.ts";

/** What a transcript shows of a replica after each command; views once there is something to tell. */
export function standingOf(replica: Replica): string {
  const { op, commit, pipelineFree, view, logView, status } = replica;
  const standing = `= op=${op} commit=${commit} free=${pipelineFree}`;
  return view === 0 && status === "normal" ? standing : `${standing} view=${view}/${logView} ${status}`;
}

/** One output as one line. */
export function lineOf(output: Output): string {
  switch (output.kind) {
    case "send":
      return `send to=${output.to} ${messageLine(output.message)}`;
    case "journal-write": {
      const { op, view, parent, checksum, client, request, operation, body, commit } = output.prepare;
      const chain = `op=${op} view=${view} commit=${commit} parent=${parent} checksum=${checksum}`;
      return `journal-write ${chain} client=${client} request=${request} operation=${operation} body=${body}`;
    }
    case "apply":
      return `apply op=${output.prepare.op} body=${output.prepare.body}`;
    case "reply":
    case "replay": {
      const { kind, client, request, op, view, commit, operation, body } = output;
      const at = `op=${op} view=${view} commit=${commit} operation=${operation}`;
      return `${kind} client=${client} request=${request} ${at} body=${new TextDecoder().decode(body)}`;
    }
    case "reject": {
      const context = output.context === undefined ? "" : ` context=${output.context}`;
      return `reject code=${output.code} client=${output.client} request=${output.request}${context}`;
    }
    case "evict":
      return `evict reason=${output.reason} client=${output.client}`;
    case "drop":
      return `drop reason=${output.reason} client=${output.client} request=${output.request}`;
    case "persist-view": {
      const { view, logView, mayHaveLost } = output;
      return `persist-view view=${view} logView=${logView}${mayHaveLost ? " mayHaveLost" : ""}`;
    }
    case "journal-truncate":
      return `journal-truncate op=${output.op}`;
    case "journal-read":
      return `journal-read op=${output.op} checksum=${output.checksum} to=${output.to}`;
    case "request-state":
      return `request-state from=${output.from} op=${output.op}`;
  }
}

function messageLine(message: ReplicaMessage): string {
  switch (message.kind) {
    case "prepare":
      return `prepare op=${message.prepare.op} commit=${message.prepare.commit}${viewOf(message)}`;
    case "prepareOk":
      return `prepareOk op=${message.op} replica=${message.replica}${viewOf(message)}`;
    case "commit":
      return `commit commit=${message.commit}${viewOf(message)}`;
    case "startViewChange":
      return `startViewChange view=${message.view}${message.agreed ? " agreed" : ""}`;
    case "doViewChange": {
      const { view, logView, op, commit, headers, mayHaveLost } = message;
      const log = `op=${op} commit=${commit} headers=${headersLine(headers)}`;
      return `doViewChange view=${view} logView=${logView} ${log}${mayHaveLost ? " mayHaveLost" : ""}`;
    }
    case "startView": {
      const { view, op, commit, headers, nonce } = message;
      const asked = nonce === 0 ? "" : " as asked";
      return `startView view=${view} op=${op} commit=${commit} headers=${headersLine(headers)}${asked}`;
    }
    case "requestStartView":
      return `requestStartView view=${message.view}${message.wantsViews ? " and your view" : ""}`;
    case "viewNumber":
      return `viewNumber view=${message.view}`;
    case "requestPrepare": {
      const exactly = message.prepareChecksum === 0n ? "" : ` checksum=${message.prepareChecksum}`;
      return `requestPrepare op=${message.op}${exactly}${viewOf(message)}`;
    }
    case "prepareGone":
      return `prepareGone op=${message.op}`;
    case "askToLead":
      return `askToLead op=${message.op}${viewOf(message)}`;
  }
}

/** The view of a message where it is not the first one. */
function viewOf({ view }: ReplicaMessage): string {
  return view === 0 ? "" : ` view=${view}`;
}

/** Each as op:view, which names it within a transcript. */
function headersLine(headers: readonly PrepareHeader[]): string {
  return `[${headers.map(({ op, view }) => `${op}:${view}`).join(" ")}]`;
}
