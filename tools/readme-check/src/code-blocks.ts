/** One fenced block of a Markdown text. */
export interface CodeBlock {
  readonly language: string;
  readonly code: string;
}

/** Every fenced block of a Markdown text, in order. */
export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, language = "", code = ""]) => ({
    language,
    code,
  }));
}
