import { ErrorCode } from "@millrace/errors";
import {
  decodeBody,
  decodeCreateConsumerGroupReply,
  decodeGetConsumerGroupReply,
  decodeGetConsumerGroupsReply,
  encodeCreateConsumerGroup,
  encodeDeleteConsumerGroup,
  encodeGetConsumerGroup,
  encodeGetConsumerGroups,
} from "@millrace/protocol";
import { notFound } from "../../errors/http-error.ts";
import { Fields } from "../../json/fields.ts";
import { groupDetailsJson, groupJson } from "../../objects/group-json.ts";
import { schema } from "../openapi/schemas.table.ts";
import type { Route } from "./route.ts";
import { groupOf, topicOf } from "./targets.ts";

const tag = "consumer groups";
const url = "/streams/:stream_id/topics/:topic_id/consumer-groups";

/** Consumer groups; joining, leaving and polling as a member have no route. */
export const groupRoutes: readonly Route[] = [
  {
    method: "GET",
    url,
    tag,
    summary: "All consumer groups of a topic",
    status: 200,
    answer: schema.listOf(schema.group),
    async handle(call) {
      const reply = await call.session.ask("GetConsumerGroups", encodeGetConsumerGroups(topicOf(call)));
      return decodeBody(decodeGetConsumerGroupsReply, reply).map(groupJson);
    },
  },
  {
    method: "POST",
    url,
    tag,
    summary: "Creates a consumer group",
    status: 200,
    body: schema.object({ name: schema.text }, ["name"]),
    answer: schema.groupDetails,
    async handle(call) {
      const name = Fields.ofBody(call.body).name("name", ErrorCode.InvalidConsumerGroupName);
      const request = encodeCreateConsumerGroup({ ...topicOf(call), name });
      const reply = await call.session.ask("CreateConsumerGroup", request);
      return groupDetailsJson(decodeBody(decodeCreateConsumerGroupReply, reply));
    },
  },
  {
    method: "GET",
    url: `${url}/:group_id`,
    tag,
    summary: "A consumer group with its members",
    status: 200,
    answer: schema.groupDetails,
    async handle(call) {
      const reply = await call.session.ask("GetConsumerGroup", encodeGetConsumerGroup(groupOf(call)));
      const group = decodeBody(decodeGetConsumerGroupReply, reply);
      if (group === undefined) throw notFound();
      return groupDetailsJson(group);
    },
  },
  {
    method: "DELETE",
    url: `${url}/:group_id`,
    tag,
    summary: "Deletes a consumer group",
    status: 204,
    async handle(call) {
      await call.session.ask("DeleteConsumerGroup", encodeDeleteConsumerGroup(groupOf(call)));
      return undefined;
    },
  },
];
