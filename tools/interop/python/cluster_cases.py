"""A cluster of three nodes whose leader is killed, as a client sees it that knows one node that does not lead."""

import asyncio
import time

from apache_iggy import IggyClient, SendMessage

from case import Judge, expect
from group_cases import join, true_when, until
from message_cases import STREAM, read, send, topic

# The others miss the leader after two seconds; a client may lose several more on a dead address.
GOES_ON_MAX_S = 30
BATCH = 5
BEFORE = 40
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
    member = await join(await judge.new_client(), "readers", name)
    await writer.write(BEFORE)
    await until("the member reads", lambda: true_when(len(member.seen) > 0))
    await judge.order("kill-leader", "killed")
    await writer.write(AFTER)
    wanted = {first + step for first in writer.acknowledged for step in range(BATCH)}
    await until("the member has everything", lambda: true_when(wanted <= {int(text) for text in member.seen}))
    first_seen = list(dict.fromkeys(int(text) for text in member.seen))
    expect("in order", first_seen, sorted(first_seen))
    await member.stop()
    await judge.order("start-killed", "running")


CASES = [leads_on, producer_goes_on, consumer_goes_on]
