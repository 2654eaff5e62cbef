import { CodedError, ErrorCode, isCodedError } from "@millrace/errors";
import type { Client } from "../connection/client.ts";
import type { ConnectionSettings } from "../connection/server-target.ts";
import type { World } from "../world.ts";
import { TokenFile } from "./token-file.ts";

/**
 * Opens a session with the stored login. One that the server refuses is forgotten.
 * @throws CodedError InvalidPersonalAccessToken that says that the login is over, and what connecting throws
 */
export async function connectWithLogin(world: World, settings: ConnectionSettings): Promise<Client> {
  try {
    return await world.connect(settings);
  } catch (error) {
    if (!isCodedError(error, ErrorCode.InvalidPersonalAccessToken)) throw error;
    const server = settings.target.address;
    new TokenFile(world.home).setLogin(server, undefined);
    const message = `The login at ${server} has expired; log in again with: millrace -u NAME login`;
    throw new CodedError(ErrorCode.InvalidPersonalAccessToken, message, { cause: error });
  }
}
