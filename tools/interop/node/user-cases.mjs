import assert from "node:assert/strict";
import { refused } from "./catalog-cases.mjs";

const nothing = {
  ManageServers: false,
  ReadServers: false,
  ManageUsers: false,
  ReadUsers: false,
  ManageStreams: false,
  ReadStreams: false,
  ManageTopics: false,
  ReadTopics: false,
  PollMessages: false,
  SendMessages: false,
};

/** Users, what they may do, and tokens. Each case: `(world) => Promise`. */
export const userCases = {
  "a user is created, listed, renamed and deleted": async ({ root }) => {
    await root.user.create({ username: "ann", password: "a-password", status: 1 });
    await refused(root.user.create({ username: "ann", password: "a-password", status: 1 }), 46);
    assert.ok((await root.user.list()).some((one) => one.userName === "ann"));
    assert.equal(await root.user.update({ userId: "ann", username: "anna" }), true);
    assert.equal((await root.user.get({ userId: "anna" })).userName, "anna");
    assert.equal(await root.user.delete({ userId: "anna" }), true);
    assert.equal(await root.user.get({ userId: "anna" }), null);
  },

  "permissions allow what they say, at once, and a password is changed": async ({ root, newClient }) => {
    await root.user.create({ username: "bob", password: "a-password", status: 1 });
    const bob = newClient({ username: "bob", password: "a-password" });
    await refused(bob.stream.list(), 41);
    const permissions = { global: { ...nothing, ReadStreams: true }, streams: [] };
    assert.equal(await root.user.updatePermissions({ userId: "bob", permissions }), true);
    await bob.stream.list();
    await refused(bob.stream.create({ name: "bobs" }), 41);
    assert.deepEqual((await root.user.get({ userId: "bob" })).permissions, permissions);
    const change = { userId: "bob", currentPassword: "a-password", newPassword: "another-one" };
    assert.equal(await root.user.changePassword(change), true);
    await refused(newClient({ username: "bob", password: "a-password" }).stream.list(), 42);
    await newClient({ username: "bob", password: "another-one" }).stream.list();
    await root.user.delete({ userId: "bob" });
  },

  "a token logs in until it is deleted": async ({ root, newClient }) => {
    // The client hands the number on as it is: microseconds.
    const { token } = await root.token.create({ name: "a-token", expiry: 3_600_000_000n });
    assert.ok((await root.token.list()).some((one) => one.name === "a-token"));
    await newClient({ token }).stream.list();
    assert.equal(await root.token.delete({ name: "a-token" }), true);
    await refused(newClient({ token }).stream.list(), 53);
  },
};
