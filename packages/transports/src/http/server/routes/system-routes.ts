import {
  decodeBody,
  decodeDescribeOptionsReply,
  decodeGetClientReply,
  decodeGetClientsReply,
  decodeGetClusterMetadataReply,
  decodeGetStatsReply,
  encodeDescribeOptions,
  encodeGetClient,
  encodeGetSnapshot,
  type OptionScope,
  OptionScopeCode,
} from "@millrace/protocol";
import { badInput, notFound } from "../../errors/http-error.ts";
import { Fields } from "../../json/fields.ts";
import { readSnapshot } from "../../objects/snapshot-json.ts";
import {
  clientDetailsJson,
  clientJson,
  clusterJson,
  optionSpecJson,
  statsJson,
} from "../../objects/system-json.ts";
import { schema } from "../openapi/schemas.table.ts";
import { RawAnswer, type Route } from "./route.ts";
import { snapshotName } from "./snapshot-name.ts";
import { numberOf } from "./targets.ts";

const tag = "system";
const ZIP = "application/zip";

/** The server itself, its clients and its catalogs of options. */
export const systemRoutes: readonly Route[] = [
  {
    method: "GET",
    url: "/stats",
    tag,
    summary: "What the server does and holds",
    status: 200,
    answer: schema.stats,
    async handle({ session }) {
      return statsJson(decodeBody(decodeGetStatsReply, await session.ask("GetStats")));
    },
  },
  {
    method: "GET",
    url: "/cluster/metadata",
    tag,
    summary: "The nodes clients may connect to",
    status: 200,
    answer: schema.cluster,
    async handle({ session }) {
      return clusterJson(decodeBody(decodeGetClusterMetadataReply, await session.ask("GetClusterMetadata")));
    },
  },
  {
    method: "GET",
    url: "/options/:scope",
    tag,
    summary: "The options of `topic`, `stream` or `user`",
    status: 200,
    answer: schema.listOf(schema.optionSpec),
    async handle({ session, path }) {
      const request = encodeDescribeOptions({ scope: scopeOf(path["scope"]) });
      const reply = await session.ask("DescribeOptions", request);
      return decodeBody(decodeDescribeOptionsReply, reply).map(optionSpecJson);
    },
  },
  {
    method: "GET",
    url: "/clients",
    tag,
    summary: "All connections",
    status: 200,
    answer: schema.listOf(schema.client),
    async handle({ session }) {
      return decodeBody(decodeGetClientsReply, await session.ask("GetClients")).map(clientJson);
    },
  },
  {
    method: "GET",
    url: "/clients/:client_id",
    tag,
    summary: "One connection with its consumer groups",
    status: 200,
    answer: schema.clientDetails,
    async handle(call) {
      const clientId = numberOf(call, "client_id");
      const reply = await call.session.ask("GetClient", encodeGetClient({ clientId }));
      const client = decodeBody(decodeGetClientReply, reply);
      if (client === undefined) throw notFound();
      return clientDetailsJson(client);
    },
  },
];

/**
 * The snapshot for diagnostics.
 *
 * @param wallMicros  the time its file is named after
 */
export function snapshotRoute(wallMicros: () => number): Route {
  return {
    method: "POST",
    url: "/snapshot",
    tag,
    summary: "A ZIP file with facts for diagnostics",
    status: 200,
    body: schema.snapshot,
    answerType: ZIP,
    async handle(call) {
      const asked = readSnapshot(Fields.ofBody(call.body));
      const zip = await call.session.ask("GetSnapshot", encodeGetSnapshot(asked));
      call.header("content-disposition", `attachment; filename="${snapshotName(wallMicros())}"`);
      return new RawAnswer(ZIP, zip);
    },
  };
}

function scopeOf(word: string | undefined): OptionScope {
  if (word !== undefined && Object.hasOwn(OptionScopeCode, word)) return word as OptionScope;
  throw badInput("scope", `One of these is needed here: ${Object.keys(OptionScopeCode).join(", ")}.`);
}
