import { ErrorCode, isCodedError } from "@millrace/errors";
import { sentence } from "../output/result.ts";
import { TokenFile } from "../stored-tokens/token-file.ts";
import { type AddCommand, leaf } from "./command.ts";
import { LOGIN_TOKEN_NAME } from "./login.ts";

/** Answers that mean that the login was over before. */
const OVER = [ErrorCode.InvalidPersonalAccessToken, ErrorCode.ResourceNotFound, ErrorCode.Unauthenticated];

/** `millrace logout` */
export const addLogout: AddCommand = (parent, run) => {
  leaf(parent, {
    name: "logout",
    alias: "lo",
    summary: "end the stored login, here and at the server",
  }).action(
    run(async ({ client, server: target, world }) => {
      const server = target().address;
      const file = new TokenFile(world.home);
      if (file.read(server).login === undefined) {
        return sentence(`There is no stored login at ${server}.`, { server, logged_out: false });
      }
      try {
        await (await client()).deletePersonalAccessToken(LOGIN_TOKEN_NAME);
      } catch (error) {
        if (!OVER.some((code) => isCodedError(error, code))) throw error;
      }
      file.setLogin(server, undefined);
      return sentence(`Logged out at ${server}.`, { server, logged_out: true });
    }),
  );
};
