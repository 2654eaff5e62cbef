"""Consumer groups: administration, the client's own group consumer, two members and what moves between them."""

import asyncio
import datetime
from collections.abc import Awaitable, Callable

from apache_iggy import AutoCommit, AutoCommitWhen, IggyClient, IggyConsumer, PollingStrategy, SendMessage

from case import Judge, expect, expect_refusal
from message_cases import STREAM, send, topic

# A rebalance takes milliseconds here; the client looks for it with its heartbeat, every 5 s.
PATIENCE_S = 40
MANY = 30


async def join(client: IggyClient, group: str, name: str) -> "Member":
    """A member that commits each message when it is handled."""
    consumer = await client.consumer_group(
        group,
        STREAM,
        name,
        polling_strategy=PollingStrategy.Next(),
        batch_length=10,
        auto_commit=AutoCommit.When(AutoCommitWhen.ConsumingEachMessage()),
        poll_interval=datetime.timedelta(milliseconds=5),
    )
    return Member(client, consumer)


class Member:
    """Collects what a group consumer brings, until it is stopped. A client that nobody holds stops its heartbeat."""

    def __init__(self, client: IggyClient, consumer: IggyConsumer) -> None:
        self.client = client
        self.seen: list[str] = []
        self._stop = asyncio.Event()
        self._task = asyncio.ensure_future(consumer.consume_messages(self._take, self._stop))

    async def _take(self, message) -> None:
        self.seen.append(message.payload().decode())

    async def stop(self) -> None:
        self._stop.set()
        await asyncio.wait_for(self._task, PATIENCE_S)


async def until(what: str, condition) -> None:
    for _ in range(PATIENCE_S * 20):
        if await condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"{what}: not within {PATIENCE_S} s")


async def administration(judge: Judge) -> None:
    """Groups are created, listed, shown, joined, left and deleted, and refusals have their words."""
    client = await judge.client()
    name = await topic(client, "groups", 3)
    await client.create_consumer_group(STREAM, name, "one")
    await client.create_consumer_group(STREAM, name, "two")
    await expect_refusal("twice", client.create_consumer_group(STREAM, name, "one"), "already exists")
    listed = [(g.id, g.name, g.partitions_count, g.members_count) for g in await client.get_consumer_groups(STREAM, name)]
    expect("groups", listed, [(0, "one", 3, 0), (1, "two", 3, 0)])
    await client.join_consumer_group(STREAM, name, "one")
    await client.join_consumer_group(STREAM, name, "one")
    found = await client.get_consumer_group(STREAM, name, "one")
    expect("members", [(m.id, m.partitions_count, m.partitions) for m in found.members], [(0, 3, [0, 1, 2])])
    await client.leave_consumer_group(STREAM, name, "one")
    await expect_refusal("left twice", client.leave_consumer_group(STREAM, name, "one"), "member")
    expect("absent", await client.get_consumer_group(STREAM, name, "absent"), None)
    await client.delete_consumer_group(STREAM, name, "two")
    await expect_refusal("deleted twice", client.delete_consumer_group(STREAM, name, "two"), "consumer group")
    await expect_refusal("join absent", client.join_consumer_group(STREAM, name, "two"), "consumer group")


async def one_member(judge: Judge) -> None:
    """The client's group consumer makes its group, reads every partition and goes on where it stopped."""
    client = await judge.new_client()
    name = await topic(client, "groups-one", 3)
    for partition in range(3):
        await send(client, name, [SendMessage(f"{partition}:{n}") for n in range(MANY)], partition)
    member = await join(client, "readers", name)
    await until("all read", lambda: true_when(len(member.seen) >= 3 * MANY))
    for partition in range(3):
        own = [text for text in member.seen if text.startswith(f"{partition}:")]
        expect(f"partition {partition}", own, [f"{partition}:{n}" for n in range(MANY)])
    await member.stop()


async def two_members(judge: Judge) -> None:
    """A second member takes its share, both read on, and what one leaves goes to the other."""
    await rebalance(judge, "groups-two", judge.new_client)


async def two_members_over_websocket(judge: Judge) -> None:
    """Over WebSocket a second member takes its share, both read on, and what one leaves goes to the other."""
    await rebalance(judge, "groups-ws", judge.new_websocket_client)


async def rebalance(judge: Judge, name: str, new_client: Callable[[], Awaitable[IggyClient]]) -> None:
    """Two members of a topic of this name, whose clients are made by `new_client`."""
    producer = await judge.client()
    name = await topic(producer, name, 4)
    first = await join(await new_client(), "readers", name)
    for partition in range(4):
        await send(producer, name, [SendMessage(f"{partition}:{n}") for n in range(MANY)], partition)
    await until("first reads alone", lambda: true_when(len(set(first.seen)) == 4 * MANY))
    client = await new_client()
    second = await join(client, "readers", name)

    async def shares() -> list[int]:
        found = await producer.get_consumer_group(STREAM, name, "readers")
        return sorted(member.partitions_count for member in found.members)

    async def is_shared() -> bool:
        return await shares() == [2, 2]

    await until("two partitions each", is_shared)
    for partition in range(4):
        await send(producer, name, [SendMessage(f"{partition}:{n}") for n in range(MANY, 2 * MANY)], partition)
    wanted = {f"{partition}:{n}" for partition in range(4) for n in range(2 * MANY)}
    await until("both read on", lambda: true_when(set(first.seen) | set(second.seen) == wanted))
    partitions = {text.split(":")[0] for text in second.seen}
    expect("partitions of the second", len(partitions), 2)
    await second.stop()
    await client.leave_consumer_group(STREAM, name, "readers")
    for partition in range(4):
        await send(producer, name, [SendMessage(f"{partition}:last")], partition)
    last = {f"{partition}:last" for partition in range(4)}
    await until("the first has everything", lambda: true_when(last <= set(first.seen)))
    expect("shares", await shares(), [4])
    await first.stop()


async def true_when(value: bool) -> bool:
    return value


CASES = [administration, one_member, two_members, two_members_over_websocket]
