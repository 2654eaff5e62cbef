import type { RootCredentials } from "../root-user/root-credentials.ts";

/** What a person needs to know once the server is ready. */
export interface BannerFacts {
  readonly version: string;
  readonly tcpAddress: string;
  /** Undefined when HTTP is off. */
  readonly httpAddress?: string | undefined;
  /** Absolute. */
  readonly dataPath: string;
  /** The root user that this start has made, if it made one. */
  readonly madeRootUser: RootCredentials | undefined;
}

/** The lines printed on standard output when the listeners are open. A given password is not in them. */
export function banner(facts: BannerFacts): string {
  const lines = [
    `Millrace ${facts.version} is ready`,
    `  tcp  ${facts.tcpAddress}`,
    ...(facts.httpAddress === undefined ? [] : [`  http ${facts.httpAddress}`]),
    `  data ${facts.dataPath}`,
    ...(facts.madeRootUser === undefined ? [] : rootUserLines(facts.madeRootUser)),
  ];
  return `${lines.join("\n")}\n`;
}

function rootUserLines({ username, password, passwordOrigin }: RootCredentials): string[] {
  switch (passwordOrigin) {
    case "given":
      return [`  root ${username}, with the password you gave`];
    case "generated":
      return [`  root ${username}, password ${password} (shown only now; keep it)`];
    case "default":
      return [
        `  root ${username}/${password}, the default that everybody knows. For credentials of your own, start on an`,
        "       empty data folder with MILLRACE_ROOT_USERNAME and MILLRACE_ROOT_PASSWORD set.",
      ];
  }
}
