/** Version of this release; the package's manifest says the same, and a test compares them. */
export const VERSION = "0.1.0";
