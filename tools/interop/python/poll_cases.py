"""Every polling strategy, with counts and automatic commits."""

import asyncio

from apache_iggy import Consumer, IggyClient, PollingStrategy, SendMessage

from case import Judge, expect, expect_refusal
from message_cases import STREAM, read, send, topic


async def filled(client: IggyClient, name: str) -> str:
    """A topic with offsets 0 to 9 in one batch and 10 to 19 in a later one."""
    await topic(client, name)
    await send(client, name, [SendMessage(f"{number}") for number in range(10)])
    await asyncio.sleep(0.01)
    await send(client, name, [SendMessage(f"{number}") for number in range(10, 20)])
    return name


async def offsets(
    client: IggyClient,
    name: str,
    strategy: PollingStrategy,
    count: int,
    consumer: int | str = 7,
    auto_commit: bool = False,
) -> list[int]:
    """Polls and returns the offsets seen; the payload of each message must name its offset."""
    messages = await client.poll_messages(
        STREAM,
        name,
        consumer=Consumer.Single(consumer),
        polling_strategy=strategy,
        count=count,
        auto_commit=auto_commit,
        partition_id=0,
    )
    for message in messages:
        expect("payload", message.payload(), str(message.offset()).encode())
    return [message.offset() for message in messages]


async def by_offset(judge: Judge) -> None:
    """Polling by offset starts there, takes at most the count, and is empty beyond the end."""
    client = await judge.client()
    name = await filled(client, "by-offset")
    expect("from 0", await offsets(client, name, PollingStrategy.Offset(0), 5), [0, 1, 2, 3, 4])
    expect("across", await offsets(client, name, PollingStrategy.Offset(8), 4), [8, 9, 10, 11])
    expect("to the end", await offsets(client, name, PollingStrategy.Offset(18), 100), [18, 19])
    expect("at the end", await offsets(client, name, PollingStrategy.Offset(20), 5), [])
    expect("far beyond", await offsets(client, name, PollingStrategy.Offset(1 << 60), 5), [])


async def first_and_last(judge: Judge) -> None:
    """Polling first takes the oldest messages, polling last the newest."""
    client = await judge.client()
    name = await filled(client, "first-last")
    expect("first", await offsets(client, name, PollingStrategy.First(), 3), [0, 1, 2])
    expect("last", await offsets(client, name, PollingStrategy.Last(), 1), [19])
    expect("last 12", await offsets(client, name, PollingStrategy.Last(), 12), list(range(8, 20)))
    expect("last 100", await offsets(client, name, PollingStrategy.Last(), 100), list(range(20)))


async def by_timestamp(judge: Judge) -> None:
    """Polling by timestamp starts with the first batch that is not older."""
    client = await judge.client()
    name = await filled(client, "by-timestamp")
    messages = await read(client, name, 0, 20)
    first, second = messages[0].timestamp(), messages[10].timestamp()
    assert first < second, "the two batches have one timestamp"
    expect("0", await offsets(client, name, PollingStrategy.Timestamp(0), 100), list(range(20)))
    expect("first", await offsets(client, name, PollingStrategy.Timestamp(first), 2), [0, 1])
    expect("just after", await offsets(client, name, PollingStrategy.Timestamp(first + 1), 2), [10, 11])
    expect("second", await offsets(client, name, PollingStrategy.Timestamp(second), 2), [10, 11])
    expect("the future", await offsets(client, name, PollingStrategy.Timestamp(second + 10**12), 2), [])


async def next_with_commit(judge: Judge) -> None:
    """Polling next with automatic commit walks the partition; each consumer has its own place."""
    client = await judge.client()
    name = await filled(client, "next")
    for consumer in (7, "a-name", "another"):
        walked = []
        for _ in range(4):
            walked.append(await offsets(client, name, PollingStrategy.Next(), 8, consumer, auto_commit=True))
        expect(f"consumer {consumer}", walked, [list(range(8)), list(range(8, 16)), list(range(16, 20)), []])
    await send(client, name, [SendMessage("20")])
    expect("a new message", await offsets(client, name, PollingStrategy.Next(), 8), [20])


async def next_without_commit(judge: Judge) -> None:
    """Polling next without commit stays where it is."""
    client = await judge.client()
    name = await filled(client, "next-again")
    for _ in range(2):
        expect("from 0", await offsets(client, name, PollingStrategy.Next(), 3), [0, 1, 2])
    await offsets(client, name, PollingStrategy.Offset(4), 2, auto_commit=True)
    for _ in range(2):
        expect("after commit", await offsets(client, name, PollingStrategy.Next(), 3), [6, 7, 8])


async def empty_polls(judge: Judge) -> None:
    """Every strategy on an empty partition brings nothing and no error; a missing target is refused."""
    client = await judge.client()
    name = await topic(client, "empty")
    strategies = (
        PollingStrategy.Offset(0),
        PollingStrategy.Timestamp(0),
        PollingStrategy.First(),
        PollingStrategy.Last(),
        PollingStrategy.Next(),
    )
    for strategy in strategies:
        expect(f"{strategy}", await offsets(client, name, strategy, 10, auto_commit=True), [])
    await expect_refusal("partition", read(client, name, 0, 1, partition=9), "not found")
    await expect_refusal("topic", read(client, "missing", 0, 1), "not found")


CASES = [by_offset, first_and_last, by_timestamp, next_with_commit, next_without_commit, empty_polls]
