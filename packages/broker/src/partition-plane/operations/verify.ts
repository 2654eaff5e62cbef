import { ErrorCode, isCodedError } from "@millrace/errors";
import type { VerifyPartitionReply } from "@millrace/protocol";
import type { VerifyRequest } from "@millrace/storage";
import type { PartitionGroup } from "../partition-group.ts";

/** See `PartitionHandle.verify`. */
export async function verifyPartition(
  group: PartitionGroup,
  request: VerifyRequest,
): Promise<VerifyPartitionReply> {
  const partition = group.openPartition;
  const step = await partition.verify(request);
  const { fault } = group;
  return { ...step, fault: isCodedError(fault, ErrorCode.PartitionDamaged) ? fault.message : "" };
}
