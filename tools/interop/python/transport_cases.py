"""The client over WebSocket; encrypted where the server encrypts."""

from apache_iggy import Consumer, IggyClient, Partitioning, PollingStrategy, SendMessage

from case import Judge, expect


async def over_websocket(judge: Judge) -> None:
    """Over WebSocket a client administers, sends and polls."""
    client = await judge.new_websocket_client()
    await client.create_stream("py-ws")
    await client.create_topic("py-ws", "t", 1)
    sent = ["x" * (index * 7_000) + str(index) for index in range(20)]
    messages = [SendMessage(payload) for payload in sent]
    await client.send_messages("py-ws", "t", Partitioning.partition_id(0), messages)
    polled = await client.poll_messages(
        "py-ws",
        "t",
        partition_id=0,
        consumer=Consumer.Single(1),
        polling_strategy=PollingStrategy.Offset(0),
        count=100,
        auto_commit=False,
    )
    expect("payloads", [message.payload().decode() for message in polled], sent)
    await client.delete_stream("py-ws")


async def websocket_connection_string(judge: Judge) -> None:
    """A connection string names WebSocket."""
    options = "" if judge.ca_file is None else f"?tls=true&tls_domain=localhost&tls_ca_file={judge.ca_file}"
    client = IggyClient.from_connection_string(f"iggy+ws://iggy:iggy@{judge.websocket_address}{options}")
    await client.connect()
    await client.get_streams()


CASES = [over_websocket, websocket_connection_string]
