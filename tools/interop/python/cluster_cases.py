"""A cluster of three nodes whose leader is killed, as a client sees it that knows one node that does not lead."""

import asyncio
import datetime
import time

from apache_iggy import AutoCommit, AutoCommitWhen, IggyClient, PollingStrategy, SendMessage

from case import Judge, expect
from group_cases import true_when, until
from message_cases import STREAM, read, send, topic

# The others miss the leader after two seconds; a client may lose several more on a dead address.
GOES_ON_MAX_S = 30
# The member of a connection that died with its node keeps its partitions for 16 s here, and others wait for them.
NOTHING_COMES_S = 20
BATCH = 5
# Enough that the leader dies while the member reads.
BEFORE = 200
AFTER = 40


class Writer:
    """Sends numbered messages to one partition, batch after batch, and keeps what was acknowledged.

    A batch that ends in an error has an open outcome: it is not sent again, so nothing has to be there twice.
    """

    def __init__(self, client: IggyClient, name: str) -> None:
        self.acknowledged: dict[int, int] = {}
        self.errors: list[str] = []
        self._client = client
        self._name = name
        self._next = 0

    async def write(self, count: int) -> None:
        """Until that many more batches are acknowledged."""
        wanted = len(self.acknowledged) + count
        deadline = time.monotonic() + GOES_ON_MAX_S
        while len(self.acknowledged) < wanted:
            assert time.monotonic() < deadline, f"writes do not go on: {self.errors[-3:]}"
            first = self._next
            self._next += BATCH
            messages = [SendMessage(f"{number}") for number in range(first, self._next)]
            try:
                self.acknowledged[first] = await send(self._client, self._name, messages)
            except RuntimeError as error:
                self.errors.append(str(error))
                await asyncio.sleep(0.1)

    async def expect_all(self, client: IggyClient) -> None:
        """Every acknowledged batch is at the offset that was confirmed, and nothing is there twice or moved."""
        seen = await everything(client, self._name)
        numbers = [number for _, number in seen]
        expect("each message once, in order", numbers, sorted(set(numbers)))
        at = dict(seen)
        for first, offset in self.acknowledged.items():
            found = [at.get(offset + step) for step in range(BATCH)]
            expect(f"batch at {offset}", found, list(range(first, first + BATCH)))


class Reader:
    """A program with a member of a group: commits each message when it takes the next one, until it is stopped.

    After a lost connection this client's consumer may end its reading with an error, or never bring anything
    again: it passes over what comes a second time because its commits were lost, and then asks for the same
    without an end. So a program reads on after an error and makes a new consumer when nothing comes.
    """

    def __init__(self, judge: Judge, group: str, name: str) -> None:
        self.seen: list[int] = []
        self.notes: list[str] = []
        self._judge = judge
        self._group = group
        self._name = name
        self._task = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        while True:
            try:
                client = await self._judge.new_client()
                await self._read_with(client)
                self.notes.append("nothing came: a new consumer")
                await client.leave_consumer_group(STREAM, self._name, self._group)
            except RuntimeError as error:
                self.notes.append(str(error))
                await asyncio.sleep(0.1)

    async def _read_with(self, client: IggyClient) -> None:
        """Until nothing comes for long."""
        consumer = await client.consumer_group(
            self._group,
            STREAM,
            self._name,
            polling_strategy=PollingStrategy.Next(),
            batch_length=10,
            auto_commit=AutoCommit.When(AutoCommitWhen.ConsumingEachMessage()),
            poll_interval=datetime.timedelta(milliseconds=5),
        )
        messages = consumer.iter_messages()
        while True:
            try:
                message = await asyncio.wait_for(anext(messages), NOTHING_COMES_S)
            except TimeoutError:
                return
            except RuntimeError as error:
                self.notes.append(str(error))
                await asyncio.sleep(0.1)
            else:
                self.seen.append(int(message.payload()))

    async def expect_all(self, wanted: set[int]) -> None:
        """Everything wanted arrives, in order but for what comes again because its commit was lost."""
        try:
            await until("the member has everything", lambda: true_when(wanted <= set(self.seen)))
        except AssertionError as error:
            lacks = sorted(wanted - set(self.seen))
            raise AssertionError(f"{error}: {len(lacks)} from {lacks[0]} on; {self.notes[-5:]}") from error
        first_seen = list(dict.fromkeys(self.seen))
        expect("in order", first_seen, sorted(first_seen))

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])


async def everything(client: IggyClient, name: str) -> list[tuple[int, int]]:
    """Offset and number of every message of partition 0."""
    seen: list[tuple[int, int]] = []
    while True:
        messages = await read(client, name, len(seen), 1000)
        if not messages:
            return seen
        seen += [(message.offset(), int(message.payload())) for message in messages]


async def leads_on(judge: Judge) -> None:
    """A client that knows one node that does not lead creates, writes and reads."""
    client = await judge.client()
    name = await topic(client, "known", 2)
    expect("first offset", await send(client, name, [SendMessage("first")]), 0)
    expect("payloads", [message.payload() for message in await read(client, name, 0, 9)], [b"first"])


async def producer_goes_on(judge: Judge) -> None:
    """A producer goes on through the kill of two leaders, one after the other, and every acknowledged message stays."""
    client = await judge.new_client()
    writer = Writer(client, await topic(client, "produced"))
    await writer.write(BEFORE)
    for _ in range(2):
        killing = asyncio.ensure_future(judge.order("kill-leader", "killed"))
        await writer.write(BEFORE)
        await killing
        await writer.write(AFTER)
        await judge.order("start-killed", "running")
        await writer.write(AFTER)
    await writer.expect_all(client)
    await writer.expect_all(await judge.new_client())


async def consumer_goes_on(judge: Judge) -> None:
    """A group member reads on through the kill of the leader and gets every acknowledged message in order."""
    client = await judge.new_client()
    name = await topic(client, "consumed")
    writer = Writer(client, name)
    await writer.write(BEFORE)
    member = Reader(judge, "readers", name)
    await until("the member reads", lambda: true_when(len(member.seen) > 0))
    await judge.order("kill-leader", "killed")
    await writer.write(AFTER)
    await member.expect_all({first + step for first in writer.acknowledged for step in range(BATCH)})
    await member.stop()
    await judge.order("start-killed", "running")


CASES = [leads_on, producer_goes_on, consumer_goes_on]
