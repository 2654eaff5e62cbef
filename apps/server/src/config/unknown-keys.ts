import { CodedError, ErrorCode } from "@millrace/errors";
import { CLIENT_VARIABLES } from "@millrace/protocol";
import { type Environment, variableName, variablePatterns } from "./environment.ts";
import { nearestName } from "./nearest-name.ts";
import { configSchema } from "./schema.ts";
import { listElement, schemaLeaves, tableShape } from "./schema-leaves.ts";

/** Most unknown names told at once. */
const TOLD_MAX = 5;

/**
 * Refuses keys of a file and `MILLRACE_` variables that nobody knows, and names what was probably meant: a
 * setting that is misspelt must not be without effect in silence.
 *
 * @returns warnings for names of our sections that others read: variables of the command `millrace`, and
 *          `IGGY_` ones, of which tools beside the reference have some of their own
 * @throws CodedError InvalidConfiguration
 */
export function refuseUnknownKeys(file: unknown, environment: Environment): readonly string[] {
  const names = schemaLeaves(configSchema).map((path) => path.join("."));
  const unknown = unknownKeys(configSchema, file).map((key) => guess(key, names));
  const variables = unknownVariables(environment);
  const ours = variables.filter((name) => name.startsWith("MILLRACE_") && !CLIENTS.has(name));
  const all = [...unknown, ...ours.map((name) => guess(name, variableNames()))];
  if (all.length > 0) throw refusal(all);
  return variables.map(passedOver);
}

const CLIENTS: ReadonlySet<string> = new Set(CLIENT_VARIABLES);

function passedOver(name: string): string {
  return CLIENTS.has(name)
    ? `The variable ${name} is one of the command millrace and changes nothing about this server.`
    : `The variable ${name} names no setting and is ignored.`;
}

/** Dotted names of keys in `given` that the schema does not know, those in the elements of lists too. */
function unknownKeys(schema: unknown, given: unknown, path: readonly string[] = []): readonly string[] {
  if (typeof given !== "object" || given === null) return [];
  const element = listElement(schema);
  if (element !== undefined && Array.isArray(given)) {
    return given.flatMap((one, index) => unknownKeys(element, one, [...path, String(index)]));
  }
  const shape = tableShape(schema);
  if (shape === undefined) return [];
  return Object.entries(given).flatMap(([key, value]) =>
    Object.hasOwn(shape, key) ? unknownKeys(shape[key], value, [...path, key]) : [[...path, key].join(".")],
  );
}

/** Variables that begin with one of our tables and name nothing in it; others belong to other programs. */
function unknownVariables(environment: Environment): readonly string[] {
  const tables = Object.entries(configSchema.shape).flatMap(([key, schema]) =>
    tableShape(schema) === undefined ? [] : [key.toUpperCase()],
  );
  const isOurs = new RegExp(`^(?:MILLRACE|IGGY)_(?:${tables.join("|")})_`);
  const isKnown = new RegExp(`^(?:MILLRACE|IGGY)_(?:${variablePatterns().join("|")})$`);
  return Object.keys(environment).filter((name) => isOurs.test(name) && !isKnown.test(name));
}

function variableNames(): readonly string[] {
  const settings = schemaLeaves(configSchema).map((path) => `MILLRACE_${variableName(path)}`);
  return [...settings, ...CLIENT_VARIABLES];
}

function guess(key: string, names: readonly string[]): string {
  const nearest = nearestName(key, names);
  return nearest === undefined ? key : `${key} (did you mean ${nearest}?)`;
}

function refusal(unknown: readonly string[]): CodedError {
  const told = unknown.slice(0, TOLD_MAX).join(", ");
  const more = unknown.length > TOLD_MAX ? ` and ${unknown.length - TOLD_MAX} more` : "";
  const [what, them] =
    unknown.length === 1 ? ["This setting is unknown", "it"] : ["These settings are unknown", "them"];
  const text = `${what}: ${told}${more}. Correct ${them} or leave ${them} out.`;
  return new CodedError(ErrorCode.InvalidConfiguration, text);
}
