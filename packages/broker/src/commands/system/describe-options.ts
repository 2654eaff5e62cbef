import { FieldKind } from "@millrace/framing";
import { type OptionRow, TOPIC_OPTION_CATALOG } from "@millrace/metadata";
import { decodeBody, decodeDescribeOptions, encodeDescribeOptionsReply } from "@millrace/protocol";
import { answering } from "../handler.ts";

/**
 * The catalog of options of a scope; those of streams and users are empty. Needs a login and no permission.
 */
export const describeOptions = answering((_shard, request) => {
  const { scope } = decodeBody(decodeDescribeOptions, request.body);
  return encodeDescribeOptionsReply(scope === "topic" ? TOPIC_OPTION_CATALOG.map(described) : []);
});

function described({ key, kind, defaultBytes, description }: OptionRow) {
  return { key, defaultValue: { kind: FieldKind[kind], bytes: defaultBytes }, description };
}
