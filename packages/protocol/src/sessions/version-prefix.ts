import type { ByteReader, ByteWriter } from "@millrace/framing";

/** Who logs in: the packed protocol version and the name and version of the SDK. Starts both login bodies. */
export interface VersionPrefix {
  readonly protocolVersion: number;
  readonly sdkName: string;
  readonly sdkVersion: string;
}

/** Shape: protocol version u32, SDK name, SDK version. */
export function writeVersionPrefix(writer: ByteWriter, prefix: VersionPrefix): void {
  writer.u32(prefix.protocolVersion).name(prefix.sdkName).name(prefix.sdkVersion);
}

/**
 * The counterpart of `writeVersionPrefix`. A server reads it alone first, for the version gate comes before
 * the credentials; what follows is not looked at.
 */
export function readVersionPrefix(reader: ByteReader): VersionPrefix {
  return { protocolVersion: reader.u32(), sdkName: reader.name(), sdkVersion: reader.name() };
}
