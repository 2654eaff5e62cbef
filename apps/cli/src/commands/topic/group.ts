import { type AddCommand, group } from "../command.ts";
import { addTopicCreate } from "./create.ts";
import { addTopicDelete } from "./delete.ts";
import { addTopicGet } from "./get.ts";
import { addTopicList } from "./list.ts";
import { addTopicPurge } from "./purge.ts";
import { addTopicUpdate } from "./update.ts";
import { addTopicVerify } from "./verify.ts";

/** `millrace topic ...` */
export const addTopic: AddCommand = (parent, run) =>
  group(
    parent,
    { name: "topic", alias: "t", summary: "create, look at, change and remove topics" },
    [
      addTopicCreate,
      addTopicGet,
      addTopicList,
      addTopicUpdate,
      addTopicDelete,
      addTopicPurge,
      addTopicVerify,
    ],
    run,
  );
