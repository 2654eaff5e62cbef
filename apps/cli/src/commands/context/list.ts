import { ContextFile } from "../../contexts/context-file.ts";
import { type Field, rows } from "../../output/result.ts";
import { type AddCommand, listLeaf } from "../command.ts";

interface Listed {
  readonly name: string;
  readonly active: boolean;
}

const FIELDS: readonly Field<Listed>[] = [
  {
    name: "name",
    title: "Name",
    value: ({ name }) => name,
    text: ({ name, active }) => (active ? `${name}*` : name),
  },
  {
    name: "active",
    title: "Active",
    value: ({ active }) => active,
    text: ({ active }) => (active ? "yes" : ""),
  },
];

/** `millrace context list` */
export const addContextList: AddCommand = (parent, run) => {
  listLeaf(parent, {
    name: "list",
    alias: "l",
    summary: "list the contexts; the active one is marked",
  }).action(
    run(async ({ world }) => {
      const file = new ContextFile(world.home);
      const active = file.activeName();
      const listed = file.list().map(({ name }) => ({ name, active: name === active }));
      return rows(FIELDS, listed, "No contexts found!");
    }),
  );
};
