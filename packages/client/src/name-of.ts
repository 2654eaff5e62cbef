/** What a value is, for an error that must not repeat it: it may be a password. */
export function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Number.isNaN(value)) return "NaN";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
