import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import { InvalidArgumentError } from "commander";
import { ExitCode } from "../exit-codes.ts";
import { LineTooLongError } from "../formats/lines.ts";
import { sentenceOf } from "./named-things.ts";
import { NAMING_USERS, nextStep, type Target } from "./next-step.ts";
import { codedFromSystem } from "./system-failure.ts";
import { MissingCredentialsError, UsageError } from "./usage-error.ts";

/**
 * What went wrong, ready to be printed: the exit code, a sentence, the code of the error, and what to do
 * next.
 */
export interface Failure {
  readonly exitCode: ExitCode;
  readonly message: string;
  readonly code: number | undefined;
  readonly name: string | undefined;
  readonly next: string | undefined;
  /** Messages of the causes, outermost first. */
  readonly causes: readonly string[];
}

/** A chain of causes longer than this is cut: it would only repeat itself. */
const CAUSES_MAX = 8;

const CONNECTION_CODES = new Set<number>([
  ErrorCode.Disconnected,
  ErrorCode.CannotEstablishConnection,
  ErrorCode.StaleClient,
  ErrorCode.TcpError,
  ErrorCode.InvalidServerAddress,
  ErrorCode.NotConnected,
  ErrorCode.ClientShutdown,
  ErrorCode.ConnectionClosed,
  ErrorCode.RequestTimeout,
  ErrorCode.TooManyConnections,
  ErrorCode.ShuttingDown,
  ErrorCode.InvalidTlsCertificate,
  ErrorCode.InvalidTlsDomain,
]);
const ACCESS_CODES = new Set<number>([
  ErrorCode.Unauthenticated,
  ErrorCode.Unauthorized,
  ErrorCode.InvalidCredentials,
  ErrorCode.InvalidUsername,
  ErrorCode.InvalidPassword,
  ErrorCode.UserInactive,
  ErrorCode.InvalidPersonalAccessToken,
  ErrorCode.PersonalAccessTokenExpired,
  ErrorCode.InvalidSession,
]);
const NOT_FOUND_CODES = new Set<number>([
  ErrorCode.ResourceNotFound,
  ErrorCode.ClientNotFound,
  ErrorCode.StreamIdNotFound,
  ErrorCode.StreamNameNotFound,
  ErrorCode.TopicIdNotFound,
  ErrorCode.TopicNameNotFound,
  ErrorCode.PartitionNotFound,
  ErrorCode.ConsumerOffsetNotFound,
  ErrorCode.SegmentNotFound,
  ErrorCode.ConsumerGroupIdNotFound,
  ErrorCode.ConsumerGroupNameNotFound,
  ErrorCode.ConsumerGroupMemberNotFound,
]);

const TYPED_CODES = new Set<number>([
  ErrorCode.InvalidConnectionString,
  ErrorCode.InvalidPersonalAccessTokenName,
]);
/** Of a login these are a matter of access; of a command that names a user, of what was typed. */
const USER_CODES = new Set<number>([ErrorCode.InvalidUsername, ErrorCode.InvalidPassword]);

const DAMAGE_CODES = new Set<number>([ErrorCode.PartitionDamaged, ErrorCode.MetadataDamaged]);

/** Turns whatever a command threw into a failure; `target` is what the command line named. */
export function failureOf(error: unknown, target: Target): Failure {
  const causes = causesOf(error);
  if (error instanceof MissingCredentialsError) {
    return { ...plainFailure(error, ExitCode.access), next: CREDENTIALS_NEXT };
  }
  if (error instanceof UsageError || error instanceof InvalidArgumentError)
    return { ...plainFailure(error, ExitCode.usage), next: SEE_HELP };
  const coded = isCodedError(error) ? error : (codedFromLines(error) ?? codedFromSystem(error));
  if (coded === undefined) return { ...plainFailure(error, ExitCode.failed), next: LOOK_CLOSER, causes };
  return {
    exitCode: isTyped(coded.code, target) ? ExitCode.usage : exitCodeOf(coded.code),
    message: sentenceOf(coded, target),
    code: coded.code,
    name: coded.name,
    next: ownNext(coded) ?? nextStep(coded.code, target) ?? LOOK_CLOSER,
    causes,
  };
}

/** An error may know better what to do than its code does. */
function ownNext({ details }: CodedError): string | undefined {
  const { next } = details;
  return typeof next === "string" ? next : undefined;
}

const LOOK_CLOSER = "Run it again with -d FILE before the command, and look into the file.";
const SEE_HELP = "See what the command takes with --help behind it.";

const CREDENTIALS_NEXT =
  "Set MILLRACE_USERNAME and MILLRACE_PASSWORD, or put -u NAME -p PASSWORD before the command.";

/** True for what is wrong with the command line itself: the same command would not do against any server. */
function isTyped(code: number, { command = "" }: Target): boolean {
  return TYPED_CODES.has(code) || (USER_CODES.has(code) && NAMING_USERS.has(command));
}

/** The exit code of an error code of the server or the client. */
export function exitCodeOf(code: number): ExitCode {
  if (CONNECTION_CODES.has(code)) return ExitCode.connection;
  if (ACCESS_CODES.has(code)) return ExitCode.access;
  if (NOT_FOUND_CODES.has(code)) return ExitCode.notFound;
  if (DAMAGE_CODES.has(code)) return ExitCode.damaged;
  return ExitCode.failed;
}

function plainFailure(error: unknown, exitCode: ExitCode): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { exitCode, message, code: undefined, name: undefined, next: undefined, causes: [] };
}

function codedFromLines(error: unknown): CodedError | undefined {
  if (!(error instanceof LineTooLongError)) return undefined;
  return new CodedError(ErrorCode.TooBigMessagePayload, error.message);
}

function causesOf(error: unknown): string[] {
  const messages: string[] = [];
  let cause = (error as { cause?: unknown } | null)?.cause;
  while (cause !== undefined && cause !== null && messages.length < CAUSES_MAX) {
    messages.push(cause instanceof Error ? cause.message : String(cause));
    cause = (cause as { cause?: unknown }).cause;
  }
  return messages;
}
