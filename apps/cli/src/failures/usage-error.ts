/** The command line is wrong in a way that parsing alone cannot see. Ends with exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}

/** The server needs credentials and none were given. Ends with exit code 4. */
export class MissingCredentialsError extends Error {
  constructor() {
    super("Missing server credentials");
    this.name = "MissingCredentialsError";
  }
}
