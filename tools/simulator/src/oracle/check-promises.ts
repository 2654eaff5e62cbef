import type { ReplicaMessage } from "@millrace/vsr";
import type { GroupHost } from "../node/group-host.ts";
import { Violation } from "./violation.ts";

/**
 * What a replica says about its disk must be true when it says it: a prepareOk stands for a written op, and
 * no word of a view leaves before that view is durable.
 * @throws Violation not-durable
 */
export function checkPromises(host: GroupHost, message: ReplicaMessage): void {
  const { view, logView, mayHaveLost } = host.store.superblock.durable;
  switch (message.kind) {
    case "prepareOk":
      if (!host.store.journal.hasWritten(message.op, message.prepareChecksum)) {
        fail(host, `says prepareOk to op ${message.op}, which its journal does not hold`);
      }
      if (message.view > logView) {
        fail(host, `says prepareOk in view ${message.view}, its superblock has log view ${logView}`);
      }
      return;
    case "doViewChange":
      if (message.view > view || message.logView !== logView) {
        const said = `view ${message.view} and log view ${message.logView}`;
        fail(host, `says doViewChange of ${said}, its superblock has ${view} and ${logView}`);
      }
      if (mayHaveLost && !message.mayHaveLost) fail(host, `nacks in view ${view} what it may have lost`);
      return;
    case "startView":
    case "prepare":
    case "commit":
      // Who is not primary passes prepares on for the repair of others.
      if (host.replica.isPrimary && message.view > logView) {
        fail(host, `says ${message.kind} of view ${message.view}, its superblock has log view ${logView}`);
      }
  }
}

function fail(host: GroupHost, what: string): never {
  throw new Violation("not-durable", `group ${host.group.group}: replica ${host.node.index} ${what}`);
}
