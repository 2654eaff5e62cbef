// Drives a catalog as a group of one would: admits wire bodies, numbers ops, applies them. Holds no test
// itself.
import {
  encodeCreatePartitions,
  encodeCreateStream,
  encodeCreateTopic,
  encodeDeletePartitions,
  type Identifier,
  Operation,
  type OptionEntries,
  toIdentifier,
} from "@millrace/protocol";
import { admitRequest } from "./admission/admit-request.ts";
import type { ApplyResult } from "./committed-op.ts";
import { createMetadata, type Metadata } from "./metadata.ts";
import { MetadataOperation } from "./operation.table.ts";
import { encodeCreateRootUser } from "./users/root-user-op.ts";

export const ROOT = { name: "iggy", passwordHash: "$scrypt$ln=14,r=8,p=1$c2FsdA$aGFzaA" };

type Target = number | string | Identifier;

export class Driver {
  readonly metadata: Metadata;
  op: number;

  constructor(metadata: Metadata = createMetadata()) {
    this.metadata = metadata;
    this.op = metadata.appliedOp;
    if (metadata.userById(0) === undefined)
      this.applyOp(MetadataOperation.createRootUser, encodeCreateRootUser(ROOT));
  }

  /** Applies an op as it stands in the log. The clock shows 1000 x op. */
  applyOp(operation: number, body: Uint8Array, user = 0, client = 7n): ApplyResult {
    this.op += 1;
    return this.metadata.apply({ op: this.op, operation, timestamp: this.op * 1000, client, user, body });
  }

  /** Admits a wire request and applies its op. */
  request(operation: number, wireBody: Uint8Array, user = 0): ApplyResult {
    const admitted = admitRequest(operation, wireBody);
    return this.applyOp(admitted.operation, admitted.body, user);
  }

  createStream(name: string): ApplyResult {
    return this.request(Operation.CreateStream, encodeCreateStream({ name, options: [] }));
  }

  createTopic(stream: Target, name: string, partitionsCount = 1, options: OptionEntries = []): ApplyResult {
    const body = encodeCreateTopic({ stream: toIdentifier(stream), name, partitionsCount, options });
    return this.request(Operation.CreateTopic, body);
  }

  createPartitions(stream: Target, topic: Target, partitionsCount: number): ApplyResult {
    return this.request(
      Operation.CreatePartitions,
      encodeCreatePartitions(changeOf(stream, topic, partitionsCount)),
    );
  }

  deletePartitions(stream: Target, topic: Target, partitionsCount: number): ApplyResult {
    return this.request(
      Operation.DeletePartitions,
      encodeDeletePartitions(changeOf(stream, topic, partitionsCount)),
    );
  }
}

function changeOf(stream: Target, topic: Target, partitionsCount: number) {
  return { stream: toIdentifier(stream), topic: toIdentifier(topic), partitionsCount };
}
