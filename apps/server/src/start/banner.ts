import type { RootCredentials } from "../root-user/root-credentials.ts";

/** What a person needs to know once the server is ready. */
export interface BannerFacts {
  readonly version: string;
  /** Name and address of each open listener, in the order to print. */
  readonly listeners: readonly (readonly [name: string, address: string])[];
  /** Absolute. */
  readonly dataPath: string;
  /** The root user that this start has made, if it made one. */
  readonly madeRootUser: RootCredentials | undefined;
}

/** Names that are longer than the column. */
const SHORT_NAMES: Readonly<Record<string, string>> = { websocket: "ws" };

/** The lines printed on standard output when the listeners are open. A given password is not in them. */
export function banner(facts: BannerFacts): string {
  const lines = [
    `Millrace ${facts.version} is ready`,
    ...facts.listeners.map(([name, address]) => `  ${(SHORT_NAMES[name] ?? name).padEnd(4)} ${address}`),
    `  data ${facts.dataPath}`,
    ...(facts.madeRootUser === undefined ? [] : rootUserLines(facts.madeRootUser)),
  ];
  return `${lines.join("\n")}\n`;
}

/** What is printed when a start failed behind the making of the root user, who is there from now on. */
export function rootUserLeft(rootUser: RootCredentials): string {
  const lines = ["The server did not start, but its root user is stored:", ...rootUserLines(rootUser)];
  return `${lines.join("\n")}\n`;
}

function rootUserLines({ username, password, passwordOrigin }: RootCredentials): string[] {
  switch (passwordOrigin) {
    case "given":
      return [`  root ${username}, with the password you gave`];
    case "generated":
      return [
        `  root ${username}, password ${password} (made up by this start and shown only now: keep it)`,
        "       To choose both yourself, start on an empty data folder with MILLRACE_ROOT_USERNAME and",
        `       MILLRACE_ROOT_PASSWORD set. To change the password: millrace -u ${username} user password ${username}`,
      ];
    case "default":
      return [
        `  root ${username}/${password}, the default that everybody knows. For credentials of your own, start on an`,
        "       empty data folder with MILLRACE_ROOT_USERNAME and MILLRACE_ROOT_PASSWORD set.",
      ];
  }
}
