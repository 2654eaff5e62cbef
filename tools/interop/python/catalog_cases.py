"""Streams and topics: create with options, read, update, purge, delete, and what is refused."""

from datetime import timedelta

from apache_iggy import Durability, IggyExpiry, MaxTopicSize, Partitioning, SendMessage

from case import Judge, expect, expect_refusal

MIB = 1 << 20


async def streams(judge: Judge) -> None:
    """A stream is created, found by name and id, renamed and deleted."""
    client = await judge.client()
    await client.create_stream("catalog")
    by_name = await client.get_stream("catalog")
    by_id = await client.get_stream(by_name.id)
    expect("name", by_id.name, "catalog")
    expect("topics", (by_id.topics_count, by_id.topics, by_id.messages_count, by_id.size), (0, [], 0, 0))
    assert by_id.created_at > 0
    await client.update_stream(by_id.id, "catalogue")
    expect("old name", await client.get_stream("catalog"), None)
    expect("new name", (await client.get_stream("catalogue")).id, by_id.id)
    assert by_id.id in [stream.id for stream in await client.get_streams()]
    await client.delete_stream("catalogue")
    expect("deleted", await client.get_stream(by_id.id), None)


async def stream_refusals(judge: Judge) -> None:
    """A second stream of a name, and a stream that is not there, are refused with their own errors."""
    client = await judge.client()
    await client.create_stream("twice")
    await client.create_stream("other")
    await expect_refusal("create", client.create_stream("twice"), "Stream with name:")
    await expect_refusal("create", client.create_stream("twice"), "already exists")
    await expect_refusal("rename", client.update_stream("other", "twice"), "already exists")
    await expect_refusal("update", client.update_stream("missing", "name"), "was not found")
    await expect_refusal("delete", client.delete_stream("missing"), "was not found")
    await expect_refusal("purge", client.purge_stream(987_654), "was not found")
    topic = client.create_topic("missing", "topic", partitions_count=1)
    await expect_refusal("topic", topic, "was not found")
    expect("topics", await client.get_topics("missing"), [])
    await client.delete_stream("twice")
    await client.delete_stream("other")


async def topic_options(judge: Judge) -> None:
    """A topic shows the options it was created with as explicit and the others as derived."""
    client = await judge.client()
    await client.create_stream("options")
    await client.create_topic(
        "options",
        "typed",
        partitions_count=3,
        compression_algorithm="gzip",
        message_expiry=IggyExpiry.ExpireDuration(timedelta(hours=1)),
        max_topic_size=MaxTopicSize.Custom(64 * MIB),
        segment_size=2 * MIB,
        durability=Durability.PERSISTED,
        consumer_offset_durability=Durability.PERSISTED,
        messages_required_to_save=77,
        size_of_messages_required_to_save=MIB,
        preallocate_segments=False,
    )
    topic = await client.get_topic("options", "typed")
    expect("partitions", [partition.id for partition in topic.partitions], [0, 1, 2])
    expect("compression", topic.compression_algorithm, "gzip")
    expect("expiry", topic.message_expiry.duration, timedelta(hours=1))
    expect("size limit", topic.max_topic_size.bytes, 64 * MIB)
    explicit = {
        "compression_algorithm": "gzip",
        "message_expiry": 3_600_000_000,
        "max_topic_size": 64 * MIB,
        "segment_size": 2 * MIB,
        "durability": "persisted",
        "consumer_offset_durability": "persisted",
        "messages_required_to_save": 77,
        "size_of_messages_required_to_save": MIB,
        "preallocate_segments": False,
    }
    expect("explicit", topic.options.to_scalar_dict(), explicit)
    expect("derived", topic.derived_options.to_scalar_dict(), {})


async def topic_options_as_text(judge: Judge) -> None:
    """Options given as text are read, and every option not given is derived."""
    client = await judge.client()
    text = {"segment_size": "4MiB", "message_expiry": "7 days", "max_topic_size": "1 GiB"}
    await client.create_topic("options", "text", partitions_count=1, options=text)
    topic = await client.get_topic("options", "text")
    expect("expiry", topic.message_expiry.duration, timedelta(days=7))
    explicit = topic.options.to_scalar_dict()
    derived = topic.derived_options.to_scalar_dict()
    expect("segment size", explicit["segment_size"], 4 * MIB)
    expect("size limit", explicit["max_topic_size"], 1 << 30)
    expect("durability, which this client always sends", explicit["durability"], "replicated")
    expect("saved after", derived["messages_required_to_save"], 1024)
    expect("not preallocated", derived["preallocate_segments"], False)
    expect("all options once", len(explicit.keys() | derived.keys()), len(explicit) + len(derived))
    expect("number of options", len(explicit) + len(derived), 9)


async def option_refusals(judge: Judge) -> None:
    """Unknown options and values out of bounds are refused, each with its own error; nothing is created."""
    client = await judge.client()

    def create(**options: str):
        return client.create_topic("options", "refused", partitions_count=1, options=options)

    await expect_refusal("unknown key", create(colour="blue"), "Unsupported option key")
    await expect_refusal("retired key", create(enforce_fsync="true"), "Unsupported option key")
    await expect_refusal("durability", create(durability="sometimes"), "Invalid option value")
    await expect_refusal("segment size", create(segment_size="1000"), "Invalid option value")
    await expect_refusal("expiry", create(message_expiry="soon"), "Invalid option value")
    small = create(segment_size="8MiB", max_topic_size="4MiB")
    await expect_refusal("size limit", small, "cannot be lower than segment size")
    many = client.create_topic("options", "refused", partitions_count=1001)
    await expect_refusal("1001 partitions", many, "partitions")
    expect("nothing created", await client.get_topic("options", "refused"), None)


async def topics(judge: Judge) -> None:
    """A topic is listed, updated and deleted; its name is unique in its stream."""
    client = await judge.client()
    await client.create_stream("topics")
    await client.create_topic("topics", "first", partitions_count=1)
    await client.create_topic("topics", "second", partitions_count=2)
    duplicate = client.create_topic("topics", "first", partitions_count=1)
    await expect_refusal("duplicate", duplicate, "Topic with name:")
    listed = {topic.name: topic.partitions_count for topic in await client.get_topics("topics")}
    expect("list", listed, {"first": 1, "second": 2})
    forever, limit = IggyExpiry.NeverExpire(), MaxTopicSize.Custom(3 << 30)
    await client.update_topic("topics", "first", "renamed", message_expiry=forever, max_topic_size=limit)
    renamed = await client.get_topic("topics", "renamed")
    expect("id", renamed.id, 0)
    expect("expiry", type(renamed.message_expiry), IggyExpiry.NeverExpire)
    expect("size limit", renamed.max_topic_size.bytes, 3 << 30)
    taken = client.update_topic("topics", "renamed", "second")
    await expect_refusal("name taken", taken, "already exists")
    fixed = client.update_topic("topics", "renamed", "renamed", options={"segment_size": "8MiB"})
    await expect_refusal("fixed option", fixed, "Unsupported option key")
    await client.delete_topic("topics", "renamed")
    expect("deleted", await client.get_topic("topics", "renamed"), None)
    await expect_refusal("again", client.delete_topic("topics", "renamed"), "was not found")
    expect("in the stream", [topic.name for topic in (await client.get_stream("topics")).topics], ["second"])
    await client.delete_stream("topics")


async def purge(judge: Judge) -> None:
    """Purging a topic and a stream removes messages and keeps the names."""
    client = await judge.client()
    await client.create_stream("purged")
    for topic in ("a", "b"):
        await client.create_topic("purged", topic, partitions_count=1)
        messages = [SendMessage("x") for _ in range(10)]
        await client.send_messages("purged", topic, Partitioning.partition_id(0), messages)
    expect("before", (await client.get_stream("purged")).messages_count, 20)
    await client.purge_topic("purged", "a")
    expect("one topic", [topic.messages_count for topic in await client.get_topics("purged")], [0, 10])
    await client.purge_stream("purged")
    stream = await client.get_stream("purged")
    expect("whole stream", (stream.messages_count, stream.size, stream.topics_count), (0, 0, 2))
    await client.send_messages("purged", "a", Partitioning.partition_id(0), [SendMessage("after")])
    expect("usable", (await client.get_stream("purged")).messages_count, 1)
    await client.delete_stream("purged")


CASES = [streams, stream_refusals, topic_options, topic_options_as_text, option_refusals, topics, purge]
