import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorCode, isCodedError } from "@millrace/errors";
import {
  CommandCode,
  decodeReadWithoutLogin,
  EvictionReason,
  encodeGetClusterMetadataReply,
} from "@millrace/protocol";
import type { ClientOptions } from "../client-options.ts";
import { ClusterObserver } from "../cluster-observer.ts";
import { FakeServer, node } from "../testing/fake-server.test.ts";
import { FakeTime } from "../testing/fake-time.test.ts";

const OPTIONS = { username: "iggy", password: "iggy", address: "127.0.0.1:8101" };

/** Three nodes, of which the first sees so many others. */
function rosterSeen(othersSeen: number): Uint8Array {
  const nodes = [0, 1, 2].map((at) => ({
    ...node("127.0.0.1", 8101 + at, "follower"),
    ...{ name: `n${at}`, status: at <= othersSeen ? ("healthy" as const) : ("unreachable" as const) },
  }));
  return encodeGetClusterMetadataReply({ name: "three", nodes });
}

/** Connects on a time of its own, of which it takes as much as it needs. */
function connectOn(time: FakeTime, server: FakeServer, options: ClientOptions = {}) {
  const platform = time.on(server.platform);
  return time.until(server.connect({ address: OPTIONS.address, platform, ...options }));
}

/** A node that takes no login, and what it answers to somebody who asks about its cluster. */
function stuckNode(tell: (request: Parameters<FakeServer["script"]>[0]) => void): FakeServer {
  const server = new FakeServer();
  server.script = (request) => {
    if (request.command === "ReadWithoutLogin") tell(request);
    else if (request.command !== "LoginRegister") return false;
    return true;
  };
  return server;
}

test("a login at a node without a majority ends in seconds and says which nodes it does not reach", async () => {
  const server = stuckNode((request) => {
    assert.equal(decodeReadWithoutLogin(request.body).code, CommandCode.GetClusterMetadata);
    request.succeed(rosterSeen(0));
  });
  const time = new FakeTime();
  await assert.rejects(connectOn(time, server), (error) => {
    assert.ok(isCodedError(error, ErrorCode.TransientNotAccepted));
    assert.match(error.message, /127\.0\.0\.1:8101 answers, .* of the 3 nodes .* reaches 1, .* takes 2\./);
    assert.match(error.message, /does not reach n1 \(127\.0\.0\.1:8102\), n2 \(127\.0\.0\.1:8103\)\./);
    assert.doesNotMatch(error.message, /TLS|Check that/);
    assert.match(String(error.details["next"]), /millrace cluster status/);
    return true;
  });
  assert.ok(time.clock.monotonicMs() < 10_000);
});

test("a login goes on while the node reaches a majority, and at one that answers 58 again and again too", async () => {
  let asked = 0;
  const server = stuckNode((request) => {
    asked += 1;
    request.succeed(rosterSeen(1));
    const login = server.received("LoginRegister")[0];
    server.script = () => false;
    login?.reject(ErrorCode.TransientNotAccepted);
  });
  const client = await connectOn(new FakeTime(), server);
  assert.equal(asked, 1);
  await client.close();
});

/** What a broker says that its cluster has not taken in. */
const NOT_TAKEN_IN =
  "The cluster has not taken this node in, which knows no users yet. Of the 3 nodes this one reaches 1.";

test("a login at a node that was not taken in takes its time, and then says so", async () => {
  const server = stuckNode((request) => request.deny(ErrorCode.TransientNotAccepted, NOT_TAKEN_IN));
  await assert.rejects(connectOn(new FakeTime(), server, { requestTimeoutMs: 4000 }), (error) => {
    assert.ok(isCodedError(error, ErrorCode.TransientNotAccepted));
    assert.match(error.message, /8101 answers, .* knows no users yet/);
    assert.doesNotMatch(error.message, /TLS|Check that/);
    return true;
  });
});

test("a login at a node that says twice that it was not taken in ends in seconds, with the node's words, once", async () => {
  let asked = 0;
  const server = stuckNode((request) => {
    asked += 1;
    request.deny(ErrorCode.TransientNotAccepted, NOT_TAKEN_IN);
  });
  const time = new FakeTime();
  await assert.rejects(connectOn(time, server), (error) => {
    assert.ok(isCodedError(error, ErrorCode.TransientNotAccepted));
    assert.ok(error.message.includes(`8101 answers, and can log nobody in. ${NOT_TAKEN_IN} `), error.message);
    assert.equal(error.message.match(/taken|knows no users/g)?.length, 2, "the server's sentence alone");
    return true;
  });
  assert.equal(asked, 2);
  assert.ok(time.clock.monotonicMs() < 10_000);
});

test("a login at a busy node, which puts off without a word, has its own time, and is no 'not taken in'", async () => {
  let asked = 0;
  const server = stuckNode((request) => {
    asked += 1;
    request.deny(ErrorCode.TransientNotAccepted);
  });
  await assert.rejects(connectOn(new FakeTime(), server, { requestTimeoutMs: 30_000 }), (error) => {
    assert.ok(isCodedError(error, ErrorCode.RequestTimeout));
    assert.match(error.message, /did not finish the login within 30000 ms/);
    return true;
  });
  assert.ok(asked > 3, `it is asked again and again, not ${asked} times`);
});

test("a wrong password is told as such when the election is over in which nobody could check it", async () => {
  let asked = 0;
  const server = stuckNode((request) => {
    asked += 1;
    request.deny(ErrorCode.TransientNotAccepted);
    if (asked < 3) return;
    server.script = () => false;
    server.received("LoginRegister")[0]?.evict(EvictionReason.InvalidCredentials);
  });
  await assert.rejects(connectOn(new FakeTime(), server), (error) =>
    isCodedError(error, ErrorCode.InvalidCredentials),
  );
  assert.equal(asked, 3);
});

test("whoever looks at a busy cluster is told that the node could not check who asks", async () => {
  const server = stuckNode((request) => request.deny(ErrorCode.TransientNotAccepted));
  const observer = await ClusterObserver.connect({ ...OPTIONS, platform: server.platform });
  await assert.rejects(observer.getClusterMetadata(), (error) => {
    assert.ok(isCodedError(error, ErrorCode.TransientNotAccepted));
    assert.match(error.message, /8101 answers, and cannot check now who asks: too many logins wait/);
    assert.doesNotMatch(error.message, /taken|users/);
    return true;
  });
  await observer.close();
});

test("a login goes on at a node that is taken in after it was asked about", async () => {
  const server = stuckNode((request) => {
    request.deny(ErrorCode.TransientNotAccepted, NOT_TAKEN_IN);
    const login = server.received("LoginRegister")[0];
    server.script = () => false;
    login?.reject(ErrorCode.TransientNotAccepted);
  });
  const client = await connectOn(new FakeTime(), server);
  await client.close();
});

test("servers that tell nothing without a login leave it to its time", async () => {
  const server = stuckNode((request) => request.deny(ErrorCode.Unauthenticated));
  await assert.rejects(connectOn(new FakeTime(), server, { requestTimeoutMs: 4000 }), (error) =>
    isCodedError(error, ErrorCode.RequestTimeout),
  );
});

test("whoever looks at a cluster without a login is told what went wrong", async () => {
  const server = stuckNode((request) => request.succeed(rosterSeen(1)));
  const observer = await ClusterObserver.connect({ ...OPTIONS, platform: server.platform });
  assert.equal(observer.address, OPTIONS.address);
  assert.equal((await observer.getClusterMetadata()).nodes.length, 3);
  server.script = (request) => {
    request.evict(EvictionReason.InvalidCredentials);
    return true;
  };
  const isWrong = (error: unknown) => isCodedError(error, ErrorCode.InvalidCredentials);
  await assert.rejects(observer.getClusterMetadata(), isWrong);
  server.isListening = false;
  const isUnreachable = (error: unknown) => isCodedError(error, ErrorCode.CannotEstablishConnection);
  await assert.rejects(ClusterObserver.connect({ ...OPTIONS, platform: server.platform }), isUnreachable);
  assert.equal(server.received("LoginRegister").length, 0);
});

test("whoever looks at a cluster is told what did not come in time, which was no login", async () => {
  const server = stuckNode(() => {});
  const time = new FakeTime();
  const observer = await ClusterObserver.connect({ ...OPTIONS, platform: time.on(server.platform) });
  await assert.rejects(time.until(observer.getClusterMetadata()), (error) => {
    assert.ok(isCodedError(error, ErrorCode.RequestTimeout));
    assert.match(error.message, /did not finish its answer about the cluster within 5000 ms/);
    return true;
  });
});

test("the abort signal ends what is asked of a cluster without a login", async () => {
  const abort = new AbortController();
  const server = stuckNode((request) => {
    request.connection.onClose = () => closed.push(request.command);
    abort.abort();
  });
  const closed: string[] = [];
  const observer = await ClusterObserver.connect({
    ...{ ...OPTIONS, platform: server.platform },
    signal: abort.signal,
  });
  const isAborted = (error: unknown) => isCodedError(error, ErrorCode.Aborted);
  await assert.rejects(observer.getClusterMetadata(), isAborted);
  await assert.rejects(observer.getClusterGroups(), isAborted, "nor is anything asked later");
  await observer.close();
  assert.deepEqual(closed, ["ReadWithoutLogin"]);
});
