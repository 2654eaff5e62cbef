// C0 and C1 control characters and DEL: a payload must not move the cursor or break a row.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** `text` with control characters shown as escapes, so that one value stays on one line of a terminal. */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => SHORT_ESCAPES[character] ?? codeEscape(character));
}

function codeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
