import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fromBinary } from "@bufbuild/protobuf";
import { type FileDescriptorProto, FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { loadSync } from "@grpc/proto-loader";
import { file_millrace } from "./millrace-proto.table.ts";

const PROTO = fileURLToPath(new URL("../../millrace.proto", import.meta.url));

/** Last part of a type's name. That of a map's entries is not told alike: proto-loader leaves `Entry` out. */
const typeOf = (name: string) =>
  name
    .split(".")
    .at(-1)
    ?.replace(/(?<=.)Entry$/, "");

/** Every field as `message.field number type`, and every call, in the order of the names. */
function contents({ messageType, service, enumType }: FileDescriptorProto): string[] {
  const fields = messageType.flatMap(({ name, field }) => [
    `message ${name}`,
    ...field.map(
      (one) => `${name}.${one.name} ${one.number} ${one.type} ${one.label} ${typeOf(one.typeName)}`,
    ),
  ]);
  const calls = service.flatMap(({ method }) =>
    method.map((one) => `${one.name} ${one.inputType.split(".").at(-1)} ${one.outputType.split(".").at(-1)}`),
  );
  const kinds = enumType.flatMap(({ value }) => value.map(({ name, number }) => `${name} ${number}`));
  return [...fields, ...calls, ...kinds].sort();
}

test("what was generated is what the proto file says: every message, field, call and kind", () => {
  const loaded = loadSync(PROTO, { keepCase: true })["millrace.v1.Frame"];
  assert.ok(loaded !== undefined && "fileDescriptorProtos" in loaded);
  const [bytes] = loaded.fileDescriptorProtos as Buffer[];
  assert.ok(bytes !== undefined);
  const stock = contents(fromBinary(FileDescriptorProtoSchema, bytes));
  const generated = contents(file_millrace.proto);
  assert.ok(generated.length > 200);
  assert.deepEqual(generated, stock);
});
