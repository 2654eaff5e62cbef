/** One request that is being followed. */
export interface Span {
  /** Called once, when the request is answered; 0 is success, else the code of the answer. */
  end(status: number): void;
}

/** Where requests are followed one by one. Never throws and never waits. */
export interface Tracer {
  /**
   * Begins to follow a request.
   *
   * @param name   what is asked for, such as `SendMessages`: one of few, so that they can be counted by it
   * @param facts  ids and lengths; never payloads or secrets
   */
  begin(name: string, facts: Readonly<Record<string, string | number>>): Span;
}
