/** Paths of the routes, to tell a wrong method from a wrong path. */
export class KnownPaths {
  readonly #methods = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();

  /** Adds one route; `url` has `:name` for its parameters. */
  add(methods: string | readonly string[], url: string): void {
    const known = this.#methods.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() };
    for (const method of [methods].flat()) known.methods.add(method);
    this.#methods.set(url, known);
  }

  /** The methods a path takes, as the header `Allow` lists them; empty when there is no such path. */
  allowed(path: string): string {
    const methods = new Set<string>();
    for (const known of this.#methods.values()) {
      if (known.pattern.test(path)) for (const method of known.methods) methods.add(method);
    }
    return [...methods].sort().join(", ");
  }
}

function patternOf(url: string): RegExp {
  const parts = url.split("/").map((part) => (part.startsWith(":") ? "[^/]+" : escaped(part)));
  return new RegExp(`^${parts.join("/")}/?$`);
}

/** Text of a pattern that means the text itself. */
function escaped(text: string): string {
  return text.replaceAll(/[^\w]/g, (character) => `\\${character}`);
}
