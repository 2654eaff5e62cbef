/** How this client names itself when it logs in. */
export const SDK_NAME = "millrace-node";

/** The version it names: that of this package. */
export const SDK_VERSION = "0.1.0";
