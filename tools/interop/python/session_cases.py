"""Connecting, logging in and out, and the commands that describe the server."""

from apache_iggy import IggyClient

from case import Judge, expect, expect_refusal

PING, GET_CLUSTER_METADATA, GET_ME, GET_CLIENTS, UNKNOWN = 1, 12, 20, 22, 60_000


async def ping_before_login(judge: Judge) -> None:
    """Ping works before any login."""
    client = judge.stranger()
    await client.connect()
    await client.ping()
    expect("raw ping", await client.send_binary_request(PING, b""), b"")


async def nothing_else_before_login(judge: Judge) -> None:
    """Reads before the login are refused as unauthenticated."""
    client = judge.stranger()
    await client.connect()
    await expect_refusal("streams", client.get_streams(), "Unauthenticated")
    await expect_refusal("roster", client.send_binary_request(GET_CLUSTER_METADATA, b""), "Unauthenticated")
    await client.ping()


async def login(judge: Judge) -> None:
    """The root user logs in, logs out and logs in again on one client."""
    client = judge.stranger()
    await client.connect()
    await client.login_user("iggy", "iggy")
    await client.get_streams()
    await client.logout_user()
    await expect_refusal("after logout", client.get_streams(), "Unauthenticated")
    await client.login_user("iggy", "iggy")
    await client.get_streams()


async def connection_string(judge: Judge) -> None:
    """A connection string logs in."""
    client = IggyClient.from_connection_string(f"iggy+tcp://iggy:iggy@{judge.address}")
    await client.connect()
    await client.get_streams()


async def wrong_password(judge: Judge) -> None:
    """A wrong password and an unknown user are refused as invalid credentials."""
    for name, password in (("iggy", "wrong-password"), ("nobody", "iggy")):
        client = judge.stranger()
        await client.connect()
        await expect_refusal(name, client.login_user(name, password), "Invalid credentials")
    client = judge.stranger()
    await client.connect()
    await client.login_user("iggy", "iggy")


async def stats(judge: Judge) -> None:
    """Stats describe the running process and say version 0.9.0."""
    stats = await (await judge.client()).get_stats()
    expect("version", stats.iggy_server_version, "0.9.0")
    expect("version number", stats.iggy_server_semver, 9000)
    counted = ("process_id", "memory_usage", "total_memory", "start_time", "clients_count")
    for field in counted:
        assert getattr(stats, field) > 0, f"{field} is {getattr(stats, field)}"
    for field in ("hostname", "os_name", "os_version", "kernel_version"):
        assert getattr(stats, field) != "", f"{field} is empty"


async def stats_count(judge: Judge) -> None:
    """Stats count the streams, topics and partitions that exist."""
    client = await judge.client()
    before = await client.get_stats()
    await client.create_stream("counted")
    await client.create_topic("counted", "one", partitions_count=3)
    after = await client.get_stats()
    expect("streams", after.streams_count - before.streams_count, 1)
    expect("topics", after.topics_count - before.topics_count, 1)
    expect("partitions", after.partitions_count - before.partitions_count, 3)
    await client.delete_stream("counted")


async def me_and_clients(judge: Judge) -> None:
    """Get-me answers this client, and the list of clients holds it."""
    client = await judge.client()
    me = await client.send_binary_request(GET_ME, b"")
    client_id, user_id, transport = me[:4], int.from_bytes(me[4:8], "little"), me[8]
    expect("user id", user_id, 0)
    expect("transport", transport, 1)
    everyone = await client.send_binary_request(GET_CLIENTS, b"")
    assert client_id in everyone, "the list of clients misses the asker"


async def describe_options(judge: Judge) -> None:
    """The option catalogue of topics is complete; those of streams and users are empty."""
    client = await judge.client()
    topic = {spec.key: spec for spec in await client.describe_options("topic")}
    expected = {
        "compression_algorithm": "string",
        "message_expiry": "uint64",
        "max_topic_size": "uint64",
        "segment_size": "uint64",
        "durability": "string",
        "consumer_offset_durability": "string",
        "messages_required_to_save": "uint32",
        "size_of_messages_required_to_save": "uint64",
        "preallocate_segments": "bool",
    }
    expect("topic options", {key: spec.kind for key, spec in topic.items()}, expected)
    expect("durability", topic["durability"].default_value.value, "replicated")
    expect("segment size", topic["segment_size"].default_value.value, 1 << 30)
    expect("saved after", topic["messages_required_to_save"].default_value.value, 1024)
    assert all(spec.description for spec in topic.values()), "a description is empty"
    expect("stream options", await client.describe_options("stream"), [])
    expect("user options", await client.describe_options("user"), [])


async def unknown_command(judge: Judge) -> None:
    """An unknown command is refused and leaves the session usable."""
    client = await judge.client()
    await expect_refusal("code 60000", client.send_binary_request(UNKNOWN, b""), "Invalid command")
    await client.get_streams()


CASES = [
    ping_before_login,
    nothing_else_before_login,
    login,
    connection_string,
    wrong_password,
    stats,
    stats_count,
    me_and_clients,
    describe_options,
    unknown_command,
]
