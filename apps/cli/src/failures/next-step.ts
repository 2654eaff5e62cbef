import { ErrorCode } from "@millrace/errors";
import type { KeyValue } from "../formats/key-value.ts";
import { aboutDigits } from "./named-things.ts";
import { RIGHT_OF_COMMAND } from "./rights.table.ts";

/** The things that a command line names, as they were typed. */
export interface Target {
  /** Names of the group and of the command. */
  readonly command?: string;
  /** How the server is reached, where that is known. */
  readonly transport?: string;
  readonly stream?: string;
  readonly topic?: string;
  readonly partition?: string;
  readonly consumer?: string;
  readonly user?: string;
  readonly group?: string;
  /** The name of something to make, or its new one. */
  readonly name?: string;
  /** Options of a topic that were given by `--set`. */
  readonly set?: readonly KeyValue[];
}

type Advice = string | ((target: Target) => string);

/** The option that names another server, by the transport to it. */
const ADDRESS_OPTIONS: ReadonlyMap<string | undefined, string> = new Map([
  ["ws", "--websocket-server-address HOST:PORT"],
  ["http", "--http-api-url http://HOST:PORT"],
]);
const TCP_OPTION = "--tcp-server-address HOST:PORT";
const startServer = ({ transport }: Target) => {
  const option = ADDRESS_OPTIONS.get(transport) ?? TCP_OPTION;
  return `Is the server running? Start one with: millrace server. Name another with ${option} before the command.`;
};
const CHECK_LOGIN =
  "Check the user name and password: -u NAME -p PASSWORD before the command, " +
  "or MILLRACE_USERNAME and MILLRACE_PASSWORD.";
const CHECK_PASSWORD = `${CHECK_LOGIN} The first start of a server prints the name of its root user.`;
const TRY_AGAIN = "The server is starting or busy; try again in a moment.";
const CHECK_OUTCOME = "The server may have done it: look before you repeat the command.";

const LIST_USERS = "List the users with: millrace user list";
const LIST_TOKENS = "List your tokens with: millrace pat list";

/** Commands that give a user a name or a password. */
export const NAMING_USERS: ReadonlySet<string> = new Set(["user create", "user name", "user password"]);

/** Commands that put something into a stream or topic: whoever runs one may have forgotten to make it. */
const FILLING = new Set(["message send", "topic create", "consumer-group create"]);

const listStreams = (target: Target) => {
  const { stream } = target;
  return `List the streams with: millrace stream list${orCreate(target, stream, "stream create")}${aboutDigits("stream", stream)}`;
};
const listTopics = (target: Target) => {
  const place = word(target.stream, "STREAM");
  const create = orCreate(target, target.topic, `topic create ${place}`, " 1 none");
  return `List the topics with: millrace topic list ${place}${create}${aboutDigits("topic", target.topic)}`;
};
const listGroups = ({ stream, topic, group }: Target) =>
  `List the groups with: millrace consumer-group list ${word(stream, "STREAM")} ${word(topic, "TOPIC")}${aboutDigits("group", group)}`;
const showTopic = ({ stream, topic }: Target) =>
  `Show the topic's partitions with: millrace topic get ${word(stream, "STREAM")} ${word(topic, "TOPIC")}`;

/** What to do after each error code that a person can do something about. */
const ADVICE: ReadonlyMap<number, Advice> = new Map<number, Advice>([
  [ErrorCode.FeatureUnavailable, unavailable],
  [ErrorCode.Disconnected, startServer],
  [ErrorCode.CannotEstablishConnection, startServer],
  [ErrorCode.ResourceNotFound, missingTarget],
  [ErrorCode.StaleClient, "The server ended a silent session; run the command again."],
  [ErrorCode.TcpError, startServer],
  [ErrorCode.InvalidServerAddress, "Write the address as HOST:PORT, for example 127.0.0.1:8090."],
  [ErrorCode.Unauthenticated, CHECK_LOGIN],
  [ErrorCode.Unauthorized, missingRight],
  [ErrorCode.InvalidCredentials, CHECK_PASSWORD],
  [
    ErrorCode.InvalidUsername,
    choosing("Choose a name of 3 to 50 bytes; letters outside ASCII have two to four."),
  ],
  [ErrorCode.InvalidPassword, choosing("Choose a password of 3 to 100 bytes.")],
  [ErrorCode.UserAlreadyExists, `Choose another name. ${LIST_USERS}`],
  [ErrorCode.CannotDeleteUser, "Root stays; rename it or change its password instead."],
  [ErrorCode.CannotChangePermissions, "Root may do everything and stays active."],
  [ErrorCode.InvalidPersonalAccessTokenName, "The name of a token has 3 to 30 bytes."],
  [ErrorCode.PersonalAccessTokenAlreadyExists, `Choose another name. ${LIST_TOKENS}`],
  [ErrorCode.PersonalAccessTokensLimitReached, `Delete one that is not needed. ${LIST_TOKENS}`],
  [ErrorCode.InvalidPersonalAccessToken, "The token is wrong, expired or deleted; log in with -u NAME."],
  [ErrorCode.TransientNotCommitted, CHECK_OUTCOME],
  [ErrorCode.TransientNotAccepted, TRY_AGAIN],
  [ErrorCode.NotConnected, startServer],
  [ErrorCode.ClientNotFound, "List the clients with: millrace client list"],
  [ErrorCode.ConnectionClosed, startServer],
  [ErrorCode.StreamIdNotFound, listStreams],
  [ErrorCode.StreamNameNotFound, listStreams],
  [ErrorCode.StreamNameAlreadyExists, "Choose another name. List the streams with: millrace stream list"],
  [ErrorCode.InvalidTopicSize, "Raise --max-topic-size to at least the topic's segment_size."],
  [ErrorCode.TopicIdNotFound, listTopics],
  [ErrorCode.TopicNameNotFound, listTopics],
  [
    ErrorCode.TopicNameAlreadyExists,
    ({ stream }) => `Choose another name. ${listTopics(stream === undefined ? {} : { stream })}`,
  ],
  [ErrorCode.TooManyPartitions, "Ask for at most 1000 partitions at once."],
  [ErrorCode.InvalidPartitionsCount, showTopic],
  [ErrorCode.PartitionNotFound, showTopic],
  [
    ErrorCode.ConsumerOffsetNotFound,
    "Nothing is stored for that consumer. Store an offset with: millrace consumer-offset set",
  ],
  [ErrorCode.ConsumerGroupIdNotFound, listGroups],
  [ErrorCode.ConsumerGroupNameAlreadyExists, (target) => `Choose another name. ${listGroups(target)}`],
  [ErrorCode.EmptyMessagePayload, "Give every message at least one byte."],
  [ErrorCode.UnsupportedOptionKey, listOptions],
  [ErrorCode.InvalidOptionValue, listOptions],
  [ErrorCode.TooManyConsumerOffsets, "Make the server forget one: millrace consumer-offset delete"],
  [ErrorCode.TooManyConsumerGroups, (target) => `Delete one that is not needed. ${listGroups(target)}`],
  [ErrorCode.TooManyUsers, `Delete one that is not needed. ${LIST_USERS}`],
  [
    ErrorCode.SnapshotFileCompletionFailed,
    "Ask for fewer parts with --snapshot-types; the server's log says what went wrong.",
  ],
  [ErrorCode.FrameTooLarge, "The answer is longer than a message may be: get what is in it one by one."],
  [ErrorCode.FileFenced, "A write failed and the disk is in doubt: mend it and start the server again."],
  [ErrorCode.InvalidOffset, (target) => `The offset is beyond the last message. ${showTopic(target)}`],
  [ErrorCode.IncompatibleProtocolVersion, "Use a millrace command of the same version as the server."],
  [ErrorCode.PartitionDamaged, verifyTopic],
  [
    ErrorCode.MetadataDamaged,
    "Restore the data directory from a copy; the server's log names file and position.",
  ],
  [
    ErrorCode.DataDirectoryInUse,
    "Stop the server, or verify while it runs: millrace topic verify STREAM TOPIC",
  ],
  [ErrorCode.DataDirectoryUnusable, "Check the folder and its rights."],
  [ErrorCode.ForeignDataDirectory, "Name the folder that the server writes to."],
  [ErrorCode.FormatTooNew, "Use a millrace command of the same version as the server."],
  [ErrorCode.InvalidConnectionString, "Write it as millrace://USER:PASSWORD@HOST:PORT?key=value"],
  [ErrorCode.InvalidConfiguration, "The file is in MILLRACE_HOME, by default ~/.millrace."],
  [ErrorCode.InvalidTlsCertificate, trustAuthority],
  [ErrorCode.InvalidTlsCertificatePath, (target) => `Check ${tlsOption(target)}-ca-file.`],
  [ErrorCode.CannotDecryptData, "Check --encryption-key; without it payloads are shown as they are stored."],
  [ErrorCode.DiskFull, "Free some space on the server's disk."],
  // A write that may have happened is OutcomeUnknown.
  [ErrorCode.RequestTimeout, notInTime],
  [ErrorCode.OutcomeUnknown, CHECK_OUTCOME],
  [ErrorCode.TooManyConnections, TRY_AGAIN],
  [ErrorCode.ShuttingDown, TRY_AGAIN],
]);

/** Nothing was changed: a request that may have been is another code. */
function notInTime({ transport }: Target): string {
  const option = ADDRESS_OPTIONS.get(transport) ?? TCP_OPTION;
  return `The server is busy, or another program answers there: try again, or name another with ${option} before the command.`;
}

/** Who is to choose a user name or a password is told their bounds; who logs in has to know his. */
function choosing(advice: string): Advice {
  return ({ command = "" }) => (NAMING_USERS.has(command) ? advice : CHECK_LOGIN);
}

/** A sentence that says what to do about an error code, or undefined when there is nothing to say. */
export function nextStep(code: number, target: Target): string | undefined {
  const advice = ADVICE.get(code);
  return typeof advice === "function" ? advice(target) : advice;
}

/** Why nothing was repaired the server says, with what to do about it. */
function verifyTopic({ command, stream, topic, partition }: Target): string {
  const place = `${word(stream, "STREAM")} ${word(topic, "TOPIC")}`;
  const find = `Find file and position with: millrace topic verify ${place}.`;
  if (command === "partition repair") return find;
  if (command === "message send") {
    const repair = `millrace partition repair ${place} ${word(partition, "PARTITION")}`;
    return `${find} Let the partition take writes behind the damage with: ${repair}`;
  }
  return `${find} What is good can be read: poll from an offset behind the damage.`;
}

/** What the options about TLS begin with. */
function tlsOption({ transport }: Target): string {
  if (transport === "http") return "--http-tls";
  return transport === "ws" ? "--websocket-tls" : "--tcp-tls";
}

function trustAuthority(target: Target): string {
  const option = tlsOption(target);
  return `Name its authority with ${option}-ca-file FILE, and the name it is for with ${option}-domain NAME.`;
}

/** The server does not say which option it was. */
function listOptions({ set = [] }: Target): string {
  const typed = set.map(({ key, value }) => `${key}=${value}`).join(", ");
  const look = typed === "" ? "" : `It is one of those that --set gave: ${typed}. `;
  return `${look}List the options and their values with: millrace options topic`;
}

function unavailable({ command, transport }: Target): string {
  if (transport === "http") return "Use --transport tcp or --transport ws, which carry every command.";
  if (command === "snapshot") return "Choose another compression: --compression deflated";
  return "This server does not have that command; compare versions with: millrace stats";
}

function missingRight({ command = "" }: Target): string {
  const right = RIGHT_OF_COMMAND.get(command);
  if (right === undefined) return "Log in as a user with the permission: -u NAME before the command.";
  const grant = "have it granted with: millrace user permissions";
  return `It takes the right ${right}, or a higher one. Log in as a user who has it: -u NAME before the command; or ${grant}`;
}

function missingTarget(target: Target): string {
  if (target.user !== undefined) return `${LIST_USERS}${aboutDigits("user", target.user)}`;
  if (target.stream === undefined && target.consumer === undefined) return LIST_TOKENS;
  if (target.topic !== undefined) return `${showTopic(target)}. ${listStreams({})}`;
  return listStreams(target);
}

/** How to make what is missing, when it was typed as a name: an id cannot be chosen. */
function orCreate({ command = "" }: Target, typed: string | undefined, create: string, behind = ""): string {
  const isName = typed !== undefined && !/^\d+$/.test(typed);
  return FILLING.has(command) && isName
    ? `. Create it with: millrace ${create} ${word(typed, "")}${behind}`
    : "";
}

function word(typed: string | undefined, placeholder: string): string {
  if (typed === undefined) return placeholder;
  return /^[\w.@:+-]+$/.test(typed) ? typed : `'${typed.replaceAll("'", "'\\''")}'`;
}
