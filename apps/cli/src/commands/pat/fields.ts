import type { PersonalAccessToken } from "@millrace/client";
import { timestampText } from "../../formats/timestamp.ts";
import type { Field } from "../../output/result.ts";

/** What is shown of a token; its text was shown once, when it was created. */
export const TOKEN_FIELDS: readonly Field<PersonalAccessToken>[] = [
  { name: "name", title: "Name", value: (token) => token.name },
  {
    name: "expires_at",
    title: "Token Expiry Time",
    value: (token) => token.expiresAt ?? null,
    text: (token) => (token.expiresAt === undefined ? "never" : timestampText(token.expiresAt)),
  },
];
