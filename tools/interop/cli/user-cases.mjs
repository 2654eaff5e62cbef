import assert from "node:assert/strict";
import { properties, tableRows } from "./iggy-command.mjs";

const as = (name, password) => ({ credentials: ["-u", name, "-p", password] });

/** Runs a command as somebody else; it must succeed. */
async function doAs(iggy, options, ...words) {
  const { code, stdout, stderr } = await iggy.run(words, options);
  assert.equal(code, 0, `\`iggy ${words.join(" ")}\` ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

/** Users, permissions and access tokens by command. Each case: `(iggy) => Promise`. */
export const userCases = {
  "a user is created, listed, shown, renamed and deleted": async (iggy) => {
    await iggy.do("user", "create", "ann", "first-pw");
    assert.deepEqual(
      tableRows(await iggy.do("user", "list"))
        .slice(1)
        .map((row) => [row[0], row[2], row[3]]),
      [
        ["0", "active", "iggy"],
        ["1", "active", "ann"],
      ],
    );
    assert.match(await iggy.do("user", "list", "-l", "list"), /^1\|[^|]+\|active\|ann$/m);
    assert.equal(properties(await iggy.do("user", "get", "ann"))["User ID"], "1");
    await iggy.do("user", "name", "1", "anna");
    assert.equal(properties(await iggy.do("user", "get", "1")).Username, "anna");
    await iggy.do("user", "delete", "anna");
    assert.match(await iggy.do("user", "get", "anna"), /was not found/);
  },

  "a taken name, a missing user, and what root must keep are refused": async (iggy) => {
    await iggy.refuse("already exists", ["user", "create", "iggy", "password"]);
    await iggy.refuse("not found", ["user", "delete", "nobody"]);
    await iggy.refuse("cannot delete user", ["user", "delete", "0"]);
    await iggy.refuse("cannot change permissions", ["user", "permissions", "0", "-g", "m_str"]);
  },

  "permissions allow what they say, from the next command on": async (iggy) => {
    const bob = as("bob", "bobs-pw");
    await iggy.do("user", "create", "bob", "bobs-pw");
    await iggy.refuse("unauthorized", ["stream", "list"], bob);
    await iggy.do("user", "permissions", "bob", "-g", "read_streams", "-s", "0:m_str#0:p_msg");
    await doAs(iggy, bob, "stream", "list");
    await iggy.refuse("unauthorized", ["stream", "create", "bobs"], bob);
    const shown = await iggy.do("user", "get", "bob");
    assert.match(shown, /Read Streams +\| true/);
    assert.match(shown, /Stream: 0/);
    await iggy.do("user", "permissions", "bob");
    await iggy.refuse("unauthorized", ["stream", "list"], bob);
  },

  "an inactive user is refused like one with a wrong password": async (iggy) => {
    await iggy.do("user", "status", "bob", "inactive");
    await iggy.refuse("Invalid credentials", ["me"], as("bob", "bobs-pw"));
    await iggy.do("user", "status", "bob", "active");
    await doAs(iggy, as("bob", "bobs-pw"), "me");
  },

  "a password is changed by who knows the current one": async (iggy) => {
    await iggy.refuse("invalid credentials", ["user", "password", "bob", "wrong-pw", "other-pw"]);
    await iggy.do("user", "password", "bob", "bobs-pw", "other-pw");
    await iggy.refuse("Invalid credentials", ["me"], as("bob", "bobs-pw"));
    await doAs(iggy, as("bob", "other-pw"), "me");
  },

  "a token is shown once, logs in, is listed and deleted": async (iggy) => {
    const bob = as("bob", "other-pw");
    const token = (await doAs(iggy, bob, "-q", "pat", "create", "ci-token", "1day")).trim();
    assert.match(token, /^[A-Za-z0-9+/]{67}=$/);
    await doAs(iggy, bob, "pat", "create", "for-ever");
    const byToken = { credentials: ["-t", token] };
    assert.equal(properties(await doAs(iggy, byToken, "me"))["User ID"], "1");
    const rows = tableRows(await doAs(iggy, bob, "pat", "list")).slice(1);
    assert.deepEqual(
      rows.map(([name, end]) => [name, end === "unlimited"]),
      [
        ["ci-token", false],
        ["for-ever", true],
      ],
    );
    await iggy.refuse("already exists", ["pat", "create", "ci-token"], bob);
    // Without a keyring the client complains once the server has deleted the token.
    await iggy.run(["pat", "delete", "ci-token"], bob);
    await iggy.refuse("token", ["me"], byToken);
    await iggy.refuse("not found", ["pat", "delete", "ci-token"], bob);
  },

  "a token that has expired is refused": async (iggy) => {
    const token = (await iggy.do("-q", "pat", "create", "short-one", "1s")).trim();
    const byToken = { credentials: ["-t", token] };
    await doAs(iggy, byToken, "me");
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await iggy.refuse("token", ["me"], byToken);
  },

  "a deleted user and his tokens are gone": async (iggy) => {
    const token = (await doAs(iggy, as("bob", "other-pw"), "-q", "pat", "create", "last-one")).trim();
    await iggy.do("user", "delete", "bob");
    await iggy.refuse("Invalid credentials", ["me"], as("bob", "other-pw"));
    await iggy.refuse("token", ["me"], { credentials: ["-t", token] });
  },

  "users, permissions and tokens are there after a restart": async (iggy, { restartServer }) => {
    await iggy.do(
      "user",
      "create",
      "kept",
      "kept-pw",
      "-g",
      "read_streams",
      "-s",
      "7:read_stream#8:send_messages",
    );
    const kept = as("kept", "kept-pw");
    const token = (await doAs(iggy, kept, "-q", "pat", "create", "kept-token")).trim();
    const look = async () => [
      await iggy.do("user", "list", "-l", "list"),
      properties(await iggy.do("user", "get", "kept")),
      await doAs(iggy, kept, "pat", "list", "-l", "list"),
      properties(await doAs(iggy, { credentials: ["-t", token] }, "me"))["User ID"],
    ];
    const before = await look();
    await restartServer();
    assert.deepEqual(await look(), before);
    await iggy.do("user", "delete", "kept");
  },
};
