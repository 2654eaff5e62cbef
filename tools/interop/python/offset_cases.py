"""Consumer offsets. The client has calls for them only inside groups, so these go by its raw request."""

import struct

from apache_iggy import Consumer, IggyClient, PollingStrategy, SendMessage

from case import Judge, expect, expect_refusal
from message_cases import STREAM, read, send, topic

GET, STORE, DELETE = 120, 121, 122
QUORUM = b"\x01"


def identifier(value: int | str) -> bytes:
    """Kind, length, then a u32 or a name."""
    if isinstance(value, int):
        return struct.pack("<BBI", 1, 4, value)
    return struct.pack("<BB", 2, len(value.encode())) + value.encode()


def target(consumer: int | str, name: str, partition: int) -> bytes:
    """A single consumer at a partition of a topic."""
    of_topic = identifier(STREAM) + identifier(name)
    return b"\x01" + identifier(consumer) + of_topic + struct.pack("<BI", 1, partition)


async def stored(
    client: IggyClient, consumer: int | str, name: str, partition: int = 0
) -> tuple[int, ...] | None:
    """Partition, newest offset and stored offset; None when nothing is stored."""
    answer = await client.send_binary_request(GET, target(consumer, name, partition))
    return struct.unpack("<IQQ", answer) if answer else None


async def store(client: IggyClient, consumer: int | str, name: str, offset: int, partition: int = 0) -> None:
    body = target(consumer, name, partition) + struct.pack("<Q", offset) + QUORUM
    expect("answer", await client.send_binary_request(STORE, body), b"")


async def numeric_and_named(judge: Judge) -> None:
    """Offsets are stored, read and deleted, for consumers with numbers and with names, per partition."""
    client = await judge.client()
    name = await topic(client, "offsets", 2)
    for partition in (0, 1):
        await send(client, name, [SendMessage(f"{n}") for n in range(10)], partition)
    for consumer in (1, 4_294_967_295, "name", "ein größerer Name"):
        expect("at first", await stored(client, consumer, name), None)
        await store(client, consumer, name, 4)
        await store(client, consumer, name, 9, partition=1)
        expect("partition 0", await stored(client, consumer, name), (0, 9, 4))
        expect("partition 1", await stored(client, consumer, name, 1), (1, 9, 9))
        await store(client, consumer, name, 2)
        expect("moved back", await stored(client, consumer, name), (0, 9, 2))
        await client.send_binary_request(DELETE, target(consumer, name, 0) + QUORUM)
        expect("deleted", await stored(client, consumer, name), None)
        expect("the other stays", await stored(client, consumer, name, 1), (1, 9, 9))


async def stored_and_next(judge: Judge) -> None:
    """A stored offset decides what polling next brings, and a commit can be read."""
    client = await judge.client()
    name = await topic(client, "offsets-next")
    await send(client, name, [SendMessage(f"{n}") for n in range(10)])
    await store(client, "walker", name, 6)

    async def poll(auto_commit: bool) -> list[int]:
        messages = await client.poll_messages(
            STREAM,
            name,
            consumer=Consumer.Single("walker"),
            polling_strategy=PollingStrategy.Next(),
            count=2,
            auto_commit=auto_commit,
            partition_id=0,
        )
        return [message.offset() for message in messages]

    expect("next", await poll(auto_commit=True), [7, 8])
    expect("committed", await stored(client, "walker", name), (0, 9, 8))
    expect("then", await poll(auto_commit=False), [9])
    expect("not committed", await stored(client, "walker", name), (0, 9, 8))


async def refusals(judge: Judge) -> None:
    """Offsets beyond the end, of a missing partition, and of a consumer without one are refused."""
    client = await judge.client()
    name = await topic(client, "offsets-refused")
    await expect_refusal("empty partition", store(client, 1, name, 0), "Invalid offset")
    await send(client, name, [SendMessage("only")])
    await expect_refusal("beyond", store(client, 1, name, 1), "Invalid offset")
    await store(client, 1, name, 0)
    await expect_refusal("partition", stored(client, 1, name, 5), "not found")
    absent = client.send_binary_request(DELETE, target(2, name, 0) + QUORUM)
    await expect_refusal("nothing stored", absent, "Consumer offset")
    expect("still usable", len(await read(client, name, 0, 5)), 1)


CASES = [numeric_and_named, stored_and_next, refusals]
