import { InvalidArgumentError } from "commander";

/** Names are keys of a file and one word on a command line. */
const NAME = /^[A-Za-z0-9_-]{1,255}$/;

/** The name of a context. @throws InvalidArgumentError for anything but letters, digits, `-` and `_` */
export function parseContextName(text: string): string {
  if (NAME.test(text)) return text;
  throw new InvalidArgumentError("It must be made of letters, digits, - and _.");
}
