"""Partitions: the three partitionings, and adding and removing partitions."""

from apache_iggy import IggyClient, Partitioning, SendMessage

from case import Judge, expect, expect_refusal
from message_cases import STREAM, read, send, topic


async def place(client: IggyClient, name: str, partitioning: Partitioning, text: str) -> int:
    """Sends one message and returns the partition the server confirms."""
    answer = await client.send_messages(STREAM, name, partitioning, [SendMessage(text)])
    [confirmation] = answer.confirmations
    return confirmation.partition_id


async def by_partition(judge: Judge) -> None:
    """Messages for a partition arrive there, each partition with its own offsets."""
    client = await judge.client()
    name = await topic(client, "by-partition", 3)
    for partition in (2, 0, 1, 2):
        await send(client, name, [SendMessage(f"for {partition}")], partition)
    seen = [[m.payload().decode() for m in await read(client, name, 0, 10, p)] for p in range(3)]
    expect("payloads", seen, [["for 0"], ["for 1"], ["for 2", "for 2"]])
    stored = (await client.get_topic(STREAM, name)).partitions
    expect("counts", [partition.messages_count for partition in stored], [1, 1, 2])
    expect("offsets", [partition.current_offset for partition in stored], [0, 0, 1])
    assert all(partition.size > 0 and partition.segments_count == 1 for partition in stored)


async def balanced(judge: Judge) -> None:
    """Balanced messages go round all partitions."""
    client = await judge.client()
    name = await topic(client, "balanced", 3)
    placed = [await place(client, name, Partitioning.balanced(), f"{n}") for n in range(9)]
    expect("each partition", sorted(placed), [0, 0, 0, 1, 1, 1, 2, 2, 2])
    expect("in turn", len(set(placed[:3])), 3)


async def by_key(judge: Judge) -> None:
    """Messages of one key stay in one partition; many keys use all partitions."""
    client = await judge.client()
    name = await topic(client, "by-key", 4)
    places: dict[str, set[int]] = {}
    for number in range(64):
        key = f"key-{number % 32}"
        partition = await place(client, name, Partitioning.messages_key(key), key)
        places.setdefault(key, set()).add(partition)
    assert all(len(partitions) == 1 for partitions in places.values()), f"a key moved: {places}"
    expect("partitions used", set.union(*places.values()), {0, 1, 2, 3})
    as_bytes = await place(client, name, Partitioning.messages_key(b"key-1"), "b")
    expect("bytes as text", {as_bytes}, places["key-1"])


async def add_and_remove(judge: Judge) -> None:
    """Partitions are added and removed from the end; a removed one refuses messages."""
    client = await judge.client()
    name = await topic(client, "resized", 1)
    await send(client, name, [SendMessage("kept")])
    await client.create_partitions(STREAM, name, 2)
    grown = await client.get_topic(STREAM, name)
    expect("grown", (grown.partitions_count, [p.id for p in grown.partitions]), (3, [0, 1, 2]))
    await send(client, name, [SendMessage("new")], 2)
    await client.delete_partitions(STREAM, name, 2)
    expect("shrunk", (await client.get_topic(STREAM, name)).partitions_count, 1)
    gone = client.send_messages(STREAM, name, Partitioning.partition_id(2), [SendMessage("x")])
    await expect_refusal("removed", gone, "not found")
    await client.create_partitions(STREAM, name, 2)
    expect("a new partition is empty", await read(client, name, 0, 10, 2), [])
    expect("kept", [m.payload() for m in await read(client, name, 0, 10)], [b"kept"])
    for count in (0, 1001):
        await expect_refusal(f"{count}", client.create_partitions(STREAM, name, count), "partitions")


CASES = [by_partition, balanced, by_key, add_and_remove]
