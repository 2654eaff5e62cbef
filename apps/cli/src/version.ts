/** Version of the command, equal to the one in package.json; a test compares them. */
export const VERSION = "0.1.0";
