/** What a person needs to know once the server is ready. */
export interface BannerFacts {
  readonly version: string;
  readonly tcpAddress: string;
  /** Absolute. */
  readonly dataPath: string;
  /** A root user that this start has made; `password` only when it is not the caller's own. */
  readonly rootUser?: { readonly name: string; readonly password?: string; readonly isGenerated: boolean };
}

/** The lines printed on standard output when the listeners are open. */
export function banner(facts: BannerFacts): string {
  const lines = [
    `Millrace ${facts.version} is ready`,
    `  tcp  ${facts.tcpAddress}`,
    `  data ${facts.dataPath}`,
    ...rootUserLines(facts.rootUser),
  ];
  return `${lines.join("\n")}\n`;
}

function rootUserLines(rootUser: BannerFacts["rootUser"]): string[] {
  if (rootUser === undefined) return [];
  const { name, password, isGenerated } = rootUser;
  if (password === undefined) return [`  root ${name}, with the password you gave`];
  if (isGenerated) return [`  root ${name}, password ${password} (shown only now; keep it)`];
  return [
    `  root ${name}/${password}, the default that everybody knows. For credentials of your own, start on an`,
    "       empty data folder with MILLRACE_ROOT_USERNAME and MILLRACE_ROOT_PASSWORD set.",
  ];
}
