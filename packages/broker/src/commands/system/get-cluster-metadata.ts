import { encodeGetClusterMetadataReply } from "@millrace/protocol";
import { checkEmptyBody } from "../../admission/check-empty-body.ts";
import { answerBody, type Handler } from "../handler.ts";
import type { AnswerRead } from "./get-cluster-groups.ts";

/** The roster: where clients find the nodes. Needs a login and no permission. */
export const getClusterMetadata: Handler = (shard, request, session) =>
  tellClusterMetadata(shard, request, { body: request.body, session });

/** See `getClusterMetadata`. */
export const tellClusterMetadata: AnswerRead = (shard, request, { body }) => {
  checkEmptyBody({ body });
  answerBody(shard, request, encodeGetClusterMetadataReply(shard.roster()));
};
