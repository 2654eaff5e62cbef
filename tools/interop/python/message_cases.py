"""Sending and reading back: payloads, ids, typed headers, large and many messages."""

import asyncio
import time

from apache_iggy import (
    Consumer,
    HeaderKey,
    HeaderValue,
    IggyClient,
    Partitioning,
    PollingStrategy,
    ReceiveMessage,
    SendMessage,
)

from case import Judge, expect, expect_refusal

STREAM = "messages"
# The server's clock and the client's need not agree to the microsecond, though they run on one machine.
CLOCKS_APART_US = 1_000_000
KINDS = {
    "Raw": bytes(range(256))[1:],
    "String": "grüße, 世界",
    "Bool": True,
    "Int8": -128,
    "Int16": -32_768,
    "Int32": -(1 << 31),
    "Int64": -(1 << 63),
    "Int128": -(1 << 127),
    "UnsignedInt8": 255,
    "UnsignedInt16": 65_535,
    "UnsignedInt32": (1 << 32) - 1,
    "UnsignedInt64": (1 << 64) - 1,
    "UnsignedInt128": (1 << 128) - 1,
    "Float32": 1.5,
    "Float64": 0.1,
}


async def topic(client: IggyClient, name: str, partitions: int = 1) -> str:
    """A new topic in the stream of this file."""
    if await client.get_stream(STREAM) is None:
        await client.create_stream(STREAM)
    await client.create_topic(STREAM, name, partitions_count=partitions)
    return name


async def send(client: IggyClient, name: str, messages: list[SendMessage], partition: int = 0) -> int:
    """Sends to one partition and returns the offset of the first message, as confirmed by the server."""
    answer = await client.send_messages(STREAM, name, Partitioning.partition_id(partition), messages)
    [confirmation] = answer.confirmations
    expect("confirmed partition", confirmation.partition_id, partition)
    return confirmation.base_offset


async def read(
    client: IggyClient, name: str, offset: int, count: int, partition: int = 0
) -> list[ReceiveMessage]:
    """Reads from one partition, without commit."""
    return await client.poll_messages(
        STREAM,
        name,
        consumer=Consumer.Single(1),
        polling_strategy=PollingStrategy.Offset(offset),
        count=count,
        auto_commit=False,
        partition_id=partition,
    )


async def round_trip(judge: Judge) -> None:
    """Messages come back with their payloads, ids, offsets, lengths and timestamps."""
    client = await judge.client()
    name = await topic(client, "round-trip")
    before = int(time.time() * 1_000_000)
    payloads = [b"first", b"\x00\xff" * 500, "zweite Zeile".encode()]
    ids = [1, (1 << 128) - 1, 0x0123456789ABCDEF_FEDCBA9876543210]
    messages = [SendMessage(data, id=id) for data, id in zip(payloads, ids, strict=True)]
    expect("first offset", await send(client, name, messages), 0)
    expect("second batch", await send(client, name, [SendMessage("no id")]), 3)
    messages = await read(client, name, 0, 10)
    expect("payloads", [message.payload() for message in messages], [*payloads, b"no id"])
    expect("ids", [message.id() for message in messages[:3]], ids)
    assert messages[3].id() > 0, "a message without id got none"
    expect("offsets", [message.offset() for message in messages], [0, 1, 2, 3])
    expect("partitions", {message.partition_id() for message in messages}, {0})
    expect("lengths", [message.length() for message in messages], [5, 1000, 12, 5])
    assert len({message.checksum() for message in messages}) == 4, "checksums repeat"
    after = int(time.time() * 1_000_000)
    for message in messages:
        sent, stored = message.origin_timestamp(), message.timestamp()
        assert before <= sent <= after, f"sent at {sent}, not between {before} and {after}"
        assert abs(stored - sent) < CLOCKS_APART_US, f"sent at {sent}, stored at {stored}"
    times = [message.timestamp() for message in messages]
    expect("order of timestamps", times, sorted(times))


async def headers(judge: Judge) -> None:
    """Headers of every kind, as keys and as values, come back equal."""
    client = await judge.client()
    name = await topic(client, "headers")
    values = {HeaderKey.String(kind): getattr(HeaderValue, kind)(value) for kind, value in KINDS.items()}
    keys = {getattr(HeaderKey, kind)(value): HeaderValue.String(kind) for kind, value in KINDS.items()}
    plain = {"count": 3, "ratio": 0.25, "name": "text", "raw": b"\x01", "yes": True}
    await send(client, name, [SendMessage(b"p", user_headers=given) for given in (values, keys, plain, None)])
    seen = [message.user_headers() for message in await read(client, name, 0, 4)]
    expect("values", dict(seen[0]), values)
    expect("keys", dict(seen[1]), keys)
    expect("plain values", seen[2].to_scalar_dict(), plain)
    expect("no headers", seen[3], None)


async def large_message(judge: Judge) -> None:
    """One message of 8 MiB goes through whole."""
    client = await judge.client()
    name = await topic(client, "large")
    payload = bytes(range(256)) * (8 * 1024 * 4)
    await send(client, name, [SendMessage(payload)])
    await send(client, name, [SendMessage("after")])
    large, after = await read(client, name, 0, 2)
    assert large.payload() == payload, "the payload differs"
    expect("next message", (after.offset(), after.payload()), (1, b"after"))


async def many_messages(judge: Judge) -> None:
    """A batch of 5,000 messages is read back whole and in parts."""
    client = await judge.client()
    name = await topic(client, "many")
    expected = [f"message {number} {'x' * (number % 200)}".encode() for number in range(5000)]
    await send(client, name, [SendMessage(payload) for payload in expected])
    whole = await read(client, name, 0, 5000)
    assert [message.payload() for message in whole] == expected, "payloads differ"
    expect("offsets", [message.offset() for message in whole], list(range(5000)))
    parts = []
    while len(parts) < 5000:
        part = await read(client, name, len(parts), 777)
        assert 0 < len(part) <= 777, f"{len(part)} messages at offset {len(parts)}"
        parts.extend(message.payload() for message in part)
    assert parts == expected, "parts differ"


async def many_batches(judge: Judge) -> None:
    """Two hundred batches of uneven length are read across their borders."""
    client = await judge.client()
    name = await topic(client, "batches")
    expected: list[bytes] = []
    for number in range(200):
        payloads = [f"{number}/{index}".encode() for index in range(number % 7 + 1)]
        base = await send(client, name, [SendMessage(data) for data in payloads])
        expect("base offset", base, len(expected))
        expected.extend(payloads)
    for start, count in ((0, len(expected)), (13, 100), (501, 1), (len(expected) - 3, 50)):
        seen = await read(client, name, start, count)
        expect(f"from {start}", [m.payload() for m in seen], expected[start : start + count])
        expect("offsets", [m.offset() for m in seen], list(range(start, start + len(seen))))


async def concurrent_clients(judge: Judge) -> None:
    """Eight clients write to one partition at once; every confirmed message is where its confirmation says."""
    client = await judge.client()
    name = await topic(client, "concurrent")
    placed: dict[int, bytes] = {}

    async def write(number: int) -> None:
        writer = await judge.new_client()
        for turn in range(25):
            payloads = [f"{number}/{turn}/{index}".encode() for index in range(4)]
            base = await send(writer, name, [SendMessage(data) for data in payloads])
            placed.update(enumerate(payloads, base))

    await asyncio.gather(*(write(number) for number in range(8)))
    expect("offsets", sorted(placed), list(range(800)))
    seen = {message.offset(): message.payload() for message in await read(client, name, 0, 1000)}
    assert seen == placed, "a message is not where its confirmation says"


async def send_refusals(judge: Judge) -> None:
    """Sending to a missing stream, topic or partition is refused and the session goes on."""
    client = await judge.client()
    name = await topic(client, "refusals")
    message = [SendMessage("x")]
    target = Partitioning.partition_id(0)
    await expect_refusal("stream", client.send_messages("missing", name, target, message), "not found")
    await expect_refusal("topic", client.send_messages(STREAM, "missing", target, message), "not found")
    beyond = client.send_messages(STREAM, name, Partitioning.partition_id(7), message)
    await expect_refusal("partition", beyond, "not found")
    nothing = client.send_messages(STREAM, name, target, [])
    await expect_refusal("no messages", nothing, "Invalid messages count")
    expect("still usable", await send(client, name, message), 0)


CASES = [round_trip, headers, large_message, many_messages, many_batches, concurrent_clients, send_refusals]
