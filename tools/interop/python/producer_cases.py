"""The client's high-level producer, which creates what it needs, direct and in the background."""

from datetime import timedelta

from apache_iggy import (
    BackgroundProducerConfig,
    Consumer,
    IggyClient,
    Partitioning,
    PollingStrategy,
    SendMessage,
)

from case import Judge, expect


async def payloads(client: IggyClient, stream: str, topic: str) -> list[bytes]:
    """All payloads of partition 0."""
    messages = await client.poll_messages(
        stream,
        topic,
        consumer=Consumer.Single(1),
        polling_strategy=PollingStrategy.First(),
        count=10_000,
        auto_commit=False,
        partition_id=0,
    )
    return [message.payload() for message in messages]


async def direct(judge: Judge) -> None:
    """The high-level producer creates its stream and topic, sends, and its confirmations name the offsets."""
    client = await judge.client()
    async with await client.producer("produced", "direct", Partitioning.partition_id(0)) as producer:
        await producer.send_one(SendMessage("0"))
        answer = await producer.send([SendMessage(f"{n}") for n in range(1, 2500)])
        bases = [confirmation.base_offset for confirmation in answer.confirmations]
        expect("first offset", bases[0], 1)
        expect("offsets rise", bases, sorted(bases))
    expect("payloads", await payloads(client, "produced", "direct"), [f"{n}".encode() for n in range(2500)])


async def in_background(judge: Judge) -> None:
    """The producer with background workers has sent everything when it is shut down."""
    client = await judge.client()
    config = BackgroundProducerConfig(linger_time=timedelta(milliseconds=5), batch_length=10)
    producer = await client.producer("produced", "background", Partitioning.partition_id(0), config)
    for number in range(500):
        await producer.send_one(SendMessage(f"{number}"))
    await producer.shutdown()
    seen = await payloads(client, "produced", "background")
    expect("payloads", seen, [f"{n}".encode() for n in range(500)])


async def to_existing(judge: Judge) -> None:
    """A producer for a topic that exists leaves it as it is and balances over its partitions."""
    client = await judge.client()
    await client.create_topic("produced", "wide", partitions_count=4)
    async with await client.producer("produced", "wide", Partitioning.balanced()) as producer:
        for number in range(8):
            await producer.send([SendMessage(f"{number}")])
    topic = await client.get_topic("produced", "wide")
    expect("per partition", [partition.messages_count for partition in topic.partitions], [2, 2, 2, 2])


CASES = [direct, in_background, to_existing]
