import { CodedError, ErrorCode } from "@millrace/errors";
import {
  type ClientDetails,
  decodeBody,
  decodeDescribeOptionsReply,
  decodeGetClientReply,
  decodeGetClientsReply,
  decodeGetClusterMetadataReply,
  decodeGetMeReply,
  encodeDescribeOptions,
  encodeGetClient,
  encodeGetSnapshot,
  type GetSnapshot,
  type OptionScope,
  OptionScopeCode,
  SnapshotCompressionCode,
  type SnapshotType,
  SnapshotTypeCode,
} from "@millrace/protocol";
import { type GetSnapshotRequest, Millrace } from "./millrace-proto.table.ts";
import { clientMessage, typedValue } from "./proto-objects.ts";
import { ask, type UnaryMethod, unaryMethod } from "./unary-method.ts";

const { method } = Millrace;

/** Who is connected, the nodes, the catalogs of options, and the snapshot for diagnostics. */
export const clientMethods: readonly UnaryMethod[] = [
  unaryMethod(method.getMe, async (call) =>
    detailsMessage(decodeBody(decodeGetMeReply, await ask(call, "GetMe"))),
  ),
  unaryMethod(method.getClient, async (call, { id }) => {
    const reply = await ask(call, "GetClient", encodeGetClient, { clientId: id });
    const client = decodeBody(decodeGetClientReply, reply);
    if (client === undefined) throw new CodedError(ErrorCode.ClientNotFound);
    return detailsMessage(client);
  }),
  unaryMethod(method.listClients, async (call) => ({
    clients: decodeBody(decodeGetClientsReply, await ask(call, "GetClients")).map(clientMessage),
  })),
  unaryMethod(method.getClusterMetadata, async (call) => {
    const { name, nodes } = decodeBody(decodeGetClusterMetadataReply, await ask(call, "GetClusterMetadata"));
    return { name, nodes: [...nodes] };
  }),
  unaryMethod(method.describeOptions, async (call, request) => {
    const scope = { scope: scopeOf(request.scope) };
    const reply = await ask(call, "DescribeOptions", encodeDescribeOptions, scope);
    const options = decodeBody(decodeDescribeOptionsReply, reply);
    return {
      options: options.map(({ key, defaultValue, description }) => ({
        key,
        defaultValue: typedValue(defaultValue),
        description,
      })),
    };
  }),
  unaryMethod(method.getSnapshot, async (call, request) => ({
    zip: await ask(call, "GetSnapshot", encodeGetSnapshot, snapshotOf(request)),
  })),
];

function detailsMessage(client: ClientDetails) {
  return { client: clientMessage(client), consumerGroups: [...client.groups] };
}

function scopeOf(number: number): OptionScope {
  const scopes = Object.keys(OptionScopeCode) as OptionScope[];
  const scope = scopes.find((name) => OptionScopeCode[name] === number);
  return scope ?? refuse("scope", scopes);
}

function snapshotOf({ compression, types }: GetSnapshotRequest): GetSnapshot {
  return {
    compression: nameOf("compression", SnapshotCompressionCode, compression || "deflated"),
    types: types.length === 0 ? ["all"] : types.map(typeOf),
  };
}

function typeOf(word: string): SnapshotType {
  return nameOf("types", SnapshotTypeCode, word);
}

function nameOf<Name extends string>(
  field: string,
  names: Readonly<Record<Name, number>>,
  word: string,
): Name {
  return Object.hasOwn(names, word) ? (word as Name) : refuse(field, Object.keys(names));
}

function refuse(field: string, words: readonly string[]): never {
  throw new CodedError(ErrorCode.InvalidCommand, `The field ${field} is one of: ${words.join(", ")}.`);
}
