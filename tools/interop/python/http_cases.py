"""The same client over HTTP: login, catalog, messages with their headers, and what TCP sees of it."""

import os

from apache_iggy import (
    Consumer,
    HeaderKey,
    HeaderValue,
    HttpConfig,
    IggyClient,
    Partitioning,
    PollingStrategy,
    SendMessage,
)

from case import Judge, expect, expect_refusal
from message_cases import KINDS

STREAM = "over-http"


def stranger(judge: Judge) -> IggyClient:
    """A client of the HTTP API that is not logged in and repeats nothing."""
    scheme = "http" if judge.ca_file is None else "https"
    return IggyClient(HttpConfig(api_url=f"{scheme}://{os.environ['INTEROP_HTTP_ADDRESS']}", retries=0))


async def logged_in(judge: Judge) -> IggyClient:
    """A client of the HTTP API that is logged in as root."""
    client = stranger(judge)
    await client.connect()
    await client.login_user("iggy", "iggy")
    return client


async def login(judge: Judge) -> None:
    """Over HTTP, ping needs no login, everything else does, and a wrong password is refused."""
    client = stranger(judge)
    await client.connect()
    await client.ping()
    await expect_refusal("streams", client.get_streams(), "Unauthenticated")
    await expect_refusal("wrong password", client.login_user("iggy", "wrong"), "credentials")
    await client.login_user("iggy", "iggy")
    await client.get_streams()
    await client.logout_user()


async def catalog(judge: Judge) -> None:
    """Over HTTP, streams, topics and partitions are created, read, changed and deleted."""
    client = await logged_in(judge)
    name = f"{STREAM}-catalog"
    await client.create_stream(name)
    await client.create_topic(name, "t", 2)
    topic = await client.get_topic(name, "t")
    expect("partitions", (topic.name, topic.partitions_count), ("t", 2))
    await client.create_partitions(name, "t", 1)
    expect("more partitions", (await client.get_topic(name, "t")).partitions_count, 3)
    await client.delete_partitions(name, "t", 2)
    expect("topics", [one.name for one in await client.get_topics(name)], ["t"])
    await client.update_topic(name, "t", "renamed")
    await client.purge_topic(name, "renamed")
    expect("nothing", await client.get_topic(name, "t"), None)
    stream = await client.get_stream(name)
    expect("stream", (stream.name, stream.topics_count), (name, 1))
    await expect_refusal("a second time", client.create_stream(name), "already exists")
    await client.update_stream(name, f"{name}-2")
    await client.delete_topic(f"{name}-2", "renamed")
    await client.delete_stream(f"{name}-2")
    expect("gone", await client.get_stream(name), None)
    assert (await client.get_stats()).streams_count >= 0
    assert len(await client.describe_options("topic")) > 0


async def messages(judge: Judge) -> None:
    """Over HTTP, messages keep payload, id and headers of every kind, and TCP reads the same."""
    client = await logged_in(judge)
    await client.create_stream(STREAM)
    await client.create_topic(STREAM, "t", 1)
    values = {HeaderKey.String(kind): getattr(HeaderValue, kind)(value) for kind, value in KINDS.items()}
    ids = [1, (1 << 53) + 1, (1 << 64) - 1]  # this client cannot write wider ones as JSON
    sent = [SendMessage(f"message {n}", id=id, user_headers=values) for n, id in enumerate(ids)]
    answer = await client.send_messages(STREAM, "t", Partitioning.partition_id(0), sent)
    [confirmation] = answer.confirmations
    expect("confirmed", (confirmation.partition_id, confirmation.base_offset), (0, 0))
    for reader in (client, await judge.client()):
        polled = await reader.poll_messages(
            STREAM,
            "t",
            consumer=Consumer.Single(1),
            partition_id=0,
            polling_strategy=PollingStrategy.First(),
            count=10,
            auto_commit=False,
        )
        expect("payloads", [one.payload() for one in polled], [f"message {n}".encode() for n in range(3)])
        expect("offsets", [one.offset() for one in polled], [0, 1, 2])
        expect("ids", [one.id() for one in polled], ids)
        expect("headers", dict(polled[0].user_headers()), values)


async def auto_commit(judge: Judge) -> None:
    """Over HTTP, a poll with auto-commit goes on where the one before ended."""
    client = await logged_in(judge)
    seen = []
    for _ in range(2):
        polled = await client.poll_messages(
            STREAM,
            "t",
            consumer=Consumer.Single("http-reader"),
            partition_id=0,
            polling_strategy=PollingStrategy.Next(),
            count=2,
            auto_commit=True,
        )
        seen += [one.offset() for one in polled]
    expect("offsets", seen, [0, 1, 2])


CASES = [login, catalog, messages, auto_commit]
