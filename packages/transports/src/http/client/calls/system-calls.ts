import {
  type CommandName,
  decodeDescribeOptions,
  decodeGetClient,
  decodeGetSnapshot,
  encodeDescribeOptionsReply,
  encodeGetClientReply,
  encodeGetClientsReply,
  encodeGetClusterMetadataReply,
  encodeGetStatsReply,
} from "@millrace/protocol";
import { snapshotRequestJson } from "../../objects/snapshot-json.ts";
import {
  readClientDetailsJson,
  readClientJson,
  readClusterJson,
  readOptionSpecJson,
  readStatsJson,
} from "../../objects/system-json.ts";
import { findOne, getList, getOne, type MakeCall, send } from "./api-call.ts";

/** The server itself, its clients and its catalogs of options. */
export const SYSTEM_CALLS: Readonly<Partial<Record<CommandName, MakeCall>>> = {
  GetStats: () => getOne("/stats", readStatsJson, encodeGetStatsReply),
  GetClusterMetadata: () => getOne("/cluster/metadata", readClusterJson, encodeGetClusterMetadataReply),
  DescribeOptions: (body) => {
    const { scope } = decodeDescribeOptions(body);
    return getList(`/options/${scope}`, readOptionSpecJson, encodeDescribeOptionsReply);
  },
  GetClients: () => getList("/clients", readClientJson, encodeGetClientsReply),
  GetClient: (body) =>
    findOne(`/clients/${decodeGetClient(body).clientId}`, readClientDetailsJson, encodeGetClientReply),
  GetSnapshot: (body) => ({
    ...send("POST", "/snapshot", snapshotRequestJson(decodeGetSnapshot(body))),
    payloadOf: ({ bytes }) => bytes,
  }),
};
