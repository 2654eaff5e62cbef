import { type AddCommand, group } from "../command.ts";
import { addUserCreate } from "./create.ts";
import { addUserDelete } from "./delete.ts";
import { addUserGet } from "./get.ts";
import { addUserList } from "./list.ts";
import { addUserName } from "./name.ts";
import { addUserPassword } from "./password.ts";
import { addUserPermissions } from "./permissions.ts";
import { addUserStatus } from "./status.ts";

/** `millrace user ...` */
export const addUser: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "user", alias: "u", summary: "create users and say what they may do" },
    [
      addUserCreate,
      addUserGet,
      addUserList,
      addUserName,
      addUserStatus,
      addUserPassword,
      addUserPermissions,
      addUserDelete,
    ],
    run,
  );
