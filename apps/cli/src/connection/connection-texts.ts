/** Texts of connection options by their names in commander: `tcpServerAddress`. Absent ones have defaults. */
export type ConnectionTexts = Readonly<Record<string, string | undefined>>;
