"""The server is killed in the middle and comes back on the same data."""

from apache_iggy import Consumer, PollingStrategy, SendMessage

from case import Judge, expect
from message_cases import STREAM, read, send, topic
from offset_cases import store, stored


async def restart(judge: Judge) -> None:
    """After a kill and a restart the client comes back by itself and everything is there."""
    client = await judge.fresh_client()
    name = await topic(client, "durable", 2)
    await client.create_topic(STREAM, "strict", partitions_count=1, options={"durability": "persisted"})
    expected = [f"kept {number}".encode() for number in range(1000)]
    await send(client, name, [SendMessage(payload) for payload in expected], 1)
    await send(client, "strict", [SendMessage("strict")])
    await store(client, "reader", name, 499, partition=1)
    streams = [(stream.id, stream.name, stream.messages_count) for stream in await client.get_streams()]
    options = (await client.get_topic(STREAM, "strict")).options.to_scalar_dict()

    await judge.restart_server()

    seen = await client.get_streams()
    expect("streams", [(stream.id, stream.name, stream.messages_count) for stream in seen], streams)
    expect("options", (await client.get_topic(STREAM, "strict")).options.to_scalar_dict(), options)
    messages = await read(client, name, 0, 1000, 1)
    assert [message.payload() for message in messages] == expected, f"{len(messages)} messages came back"
    expect("strict", [message.payload() for message in await read(client, "strict", 0, 9)], [b"strict"])
    expect("stored offset", await stored(client, "reader", name, 1), (1, 999, 499))


async def after_restart(judge: Judge) -> None:
    """After the restart, offsets go on where they were and a consumer continues after its stored offset."""
    client = await judge.client()
    expect("next offset", await send(client, "durable", [SendMessage("new")], 1), 1000)
    messages = await client.poll_messages(
        STREAM,
        "durable",
        consumer=Consumer.Single("reader"),
        polling_strategy=PollingStrategy.Next(),
        count=1000,
        auto_commit=True,
        partition_id=1,
    )
    expect("offsets", [message.offset() for message in messages], list(range(500, 1001)))
    await client.delete_stream(STREAM)
    expect("deleted", await client.get_stream(STREAM), None)


async def new_login_after_restart(judge: Judge) -> None:
    """After the restart a new client logs in with the same credentials."""
    client = judge.stranger()
    await client.connect()
    await client.login_user("iggy", "iggy")
    await client.get_streams()


CASES = [restart, after_restart, new_login_after_restart]
