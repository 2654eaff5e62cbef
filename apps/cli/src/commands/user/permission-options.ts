import type { NewPermissions } from "@millrace/client";
import type { Command } from "commander";
import {
  collectStreamPermissions,
  parseGlobalPermissions,
  type StreamPermissionsTyped,
} from "../../formats/permissions.ts";

/** The permissions of `user create` and `user permissions` as typed. */
export interface PermissionsTyped {
  readonly globalPermissions?: NonNullable<NewPermissions["global"]>;
  readonly streamPermissions?: readonly StreamPermissionsTyped[];
}

/** Adds `-g` and `-s`. */
export function addPermissionOptions(command: Command): Command {
  return command
    .option(
      "-g, --global-permissions <rights>",
      "rights on everything, such as manage_streams,read_users or m_str,r_usr",
      parseGlobalPermissions,
    )
    .option(
      "-s, --stream-permissions <rights>",
      "rights on a stream and its topics, such as 1:read_stream#2:poll_messages; repeatable",
      collectStreamPermissions,
    );
}
