import { CodedError } from "@millrace/errors";
import { encodeCreateRootUser, MetadataOperation, ROOT_USER_ID } from "@millrace/metadata";
import { decodeResultSection } from "@millrace/protocol";
import { SERVER_CLIENT } from "@millrace/vsr";
import type { RootUser } from "../broker-options.ts";
import type { MetadataPlane } from "../metadata-plane/metadata-plane.ts";
import type { MetadataAnswer } from "../metadata-plane/metadata-request.ts";

/**
 * Makes the root user when the catalog has none: on the first start, never later. @throws CodedError why it
 * failed
 */
export async function ensureRootUser(
  metadata: MetadataPlane,
  rootUser: () => Promise<RootUser>,
): Promise<void> {
  if (metadata.catalog.userById(ROOT_USER_ID) !== undefined) return;
  const body = encodeCreateRootUser(await rootUser());
  const answer = await new Promise<MetadataAnswer>((answered) =>
    metadata.submit({
      client: SERVER_CLIENT,
      session: 0,
      request: 0n,
      operation: MetadataOperation.createRootUser,
      user: ROOT_USER_ID,
      body,
      bodyChecksum: 0n,
      answered,
    }),
  );
  const code = answer.kind === "reply" ? decodeResultSection(answer.body).code : codeOf(answer);
  if (code !== 0) throw new CodedError(code, "The root user could not be created.");
}

function codeOf(answer: Exclude<MetadataAnswer, { kind: "reply" }>): number {
  return answer.kind === "refused" ? answer.code : answer.reason;
}
