/** A word as it can be pasted into a shell: in single quotes when a shell would read more into it. */
export function shellWord(word: number | string): string {
  const text = String(word);
  return /^[\w.,:@%+=/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
