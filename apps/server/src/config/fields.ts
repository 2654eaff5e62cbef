import * as z from "zod";
import { parseBytes, parseMilliseconds } from "./text-forms.ts";

/** A text. */
export const text = (fallback: string) => z.string().prefault(fallback);

/** A text, which a number in the file stands for too. */
export const textOrNumber = (fallback: string) =>
  z.union([z.string(), z.number().transform(String)]).prefault(fallback);

/** True or false; from the environment as the words. */
export const flag = (fallback: boolean) =>
  z.union([z.boolean(), z.enum(["true", "false"]).transform((word) => word === "true")]).prefault(fallback);

/** A whole number within bounds; from the environment as digits. */
export const count = (fallback: number, bounds: { min?: number; max?: number } = {}) =>
  z
    .union([z.number(), z.string().regex(/^\d+$/, "is not a whole number").transform(Number)])
    .pipe(
      z
        .number()
        .int()
        .min(bounds.min ?? 0)
        .max(bounds.max ?? Number.MAX_SAFE_INTEGER),
    )
    .prefault(fallback);

/** A duration as text; milliseconds in the tree. */
export const durationMs = (fallback: string, bounds: { min?: number } = {}) =>
  z
    .string()
    .transform((given, context) => {
      const ms = parseMilliseconds(given);
      if (ms !== undefined && ms >= (bounds.min ?? 0)) return ms;
      context.addIssue(
        ms === undefined ? `"${given}" is not a duration such as "10 s"` : `"${given}" is too short`,
      );
      return z.NEVER;
    })
    .prefault(fallback);

/** A size as text or number of bytes; bytes in the tree. */
export const byteSize = (fallback: string, bounds: { min?: number; max?: number } = {}) =>
  z
    .union([z.string(), z.number()])
    .transform((given, context) => {
      const length = parseBytes(String(given));
      if (length === undefined) context.addIssue(`"${given}" is not a size such as "64 MiB"`);
      else if (length < (bounds.min ?? 0)) context.addIssue(`"${given}" is below ${bounds.min} bytes`);
      else if (length > (bounds.max ?? Number.MAX_SAFE_INTEGER)) {
        context.addIssue(`"${given}" is above ${bounds.max} bytes`);
      } else return length;
      return z.NEVER;
    })
    .prefault(fallback);

/** A list of texts; from the environment separated by commas. */
export const texts = (fallback: readonly string[]) =>
  z
    .union([z.array(z.string()), z.string().transform((given) => given.split(",").map((one) => one.trim()))])
    .prefault([...fallback]);

/** A text that may be left out; an empty one counts as left out. */
export const optionalText = () =>
  z
    .string()
    .transform((given) => (given.trim() === "" ? undefined : given.trim()))
    .optional();

/** A key of later releases of the reference: taken, whatever it holds, and without effect. */
export const laterKey = () => z.unknown().optional();

/** A table: its keys, all with defaults. */
export const table = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape).prefault({} as z.input<z.ZodObject<Shape>>);
