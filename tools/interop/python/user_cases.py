"""Users, their passwords and permissions, and logins by access token."""

from apache_iggy import (
    AutoLogin,
    GlobalPermissions,
    IggyClient,
    Permissions,
    StreamPermissions,
    TcpConfig,
    TcpReconnectionConfig,
    TopicPermissions,
    UserStatus,
)

from case import Judge, expect, expect_refusal

GET_TOKENS, CREATE_TOKEN, DELETE_TOKEN = 41, 42, 43
HOUR_MICROS = 3_600_000_000


async def login(judge: Judge, name: str, password: str) -> IggyClient:
    """A client that is logged in as somebody, once."""
    client = judge.stranger()
    await client.connect()
    await client.login_user(name, password)
    return client


async def root_client(judge: Judge) -> IggyClient:
    """Root on a client of its own: after such calls the official client may not log in again by itself."""
    return await login(judge, "iggy", "iggy")


def some_permissions() -> Permissions:
    """One permission at each level."""
    topic = TopicPermissions(poll_messages=True)
    stream = StreamPermissions(read_stream=True, topics={4: topic})
    return Permissions(GlobalPermissions(read_streams=True), {3: stream})


async def create_and_read(judge: Judge) -> None:
    """A created user is answered, found by id and name, and listed."""
    client = await root_client(judge)
    made = await client.create_user("ann", "anns-pw", permissions=some_permissions())
    expect("name", made.username, "ann")
    expect("status", made.status, UserStatus.Active)
    assert made.permissions == some_permissions(), f"permissions: {made.permissions}"
    for key in (made.id, "ann"):
        found = await client.get_user(key)
        assert found is not None and found.permissions == some_permissions(), f"{key}: {found}"
        expect("created", found.created_at, made.created_at)
    expect("users", [user.username for user in await client.get_users()], ["iggy", "ann"])
    expect("nobody", await client.get_user("nobody"), None)


async def names_are_unique(judge: Judge) -> None:
    """A taken name is refused, at creation and when a user is renamed."""
    client = await root_client(judge)
    await expect_refusal("taken", client.create_user("iggy", "password"), "already exists")
    await expect_refusal("rename", client.update_user("ann", username="iggy"), "already exists")
    await client.update_user("ann", username="anna")
    expect("old name", await client.get_user("ann"), None)
    await client.update_user("anna", username="ann")


async def permissions_are_live(judge: Judge) -> None:
    """Permissions count from the next request of a session on, given or taken."""
    root = await root_client(judge)
    ann = await login(judge, "ann", "anns-pw")
    await ann.get_streams()
    await expect_refusal("create", ann.create_stream("anns"), "Unauthorized")
    await expect_refusal("users", ann.get_users(), "Unauthorized")
    own = await ann.get_user("ann")
    assert own is not None, "one's own account can be seen"
    await root.update_permissions("ann", Permissions(GlobalPermissions(manage_streams=True)))
    await ann.create_stream("anns")
    await ann.delete_stream("anns")
    await root.update_permissions("ann", None)
    await expect_refusal("streams", ann.get_streams(), "Unauthorized")
    seen = await root.get_user("ann")
    assert seen is not None and seen.permissions is None, f"permissions: {seen and seen.permissions}"


async def password(judge: Judge) -> None:
    """A password changes for who knows the current one, and the old one is refused then."""
    root = await root_client(judge)
    wrong = root.change_password("ann", "wrong-pw", "other-pw")
    await expect_refusal("wrong", wrong, "Invalid credentials")
    ann = await login(judge, "ann", "anns-pw")
    await ann.change_password("ann", "anns-pw", "other-pw")
    await expect_refusal("old", login(judge, "ann", "anns-pw"), "Invalid credentials")
    await login(judge, "ann", "other-pw")


async def inactive(judge: Judge) -> None:
    """An inactive user is refused like one with a wrong password, and can come back."""
    root = await root_client(judge)
    await root.update_user("ann", status=UserStatus.Inactive)
    await expect_refusal("inactive", login(judge, "ann", "other-pw"), "Invalid credentials")
    await root.update_user("ann", status=UserStatus.Active)
    await login(judge, "ann", "other-pw")


async def root_stays(judge: Judge) -> None:
    """Root cannot be deleted and keeps its permissions; a missing user is said to be missing."""
    client = await root_client(judge)
    await expect_refusal("delete", client.delete_user(0), "Cannot delete user")
    change = client.update_permissions(0, some_permissions())
    await expect_refusal("permissions", change, "Cannot change permissions")
    await expect_refusal("missing", client.delete_user("nobody"), "not found")


def by_token(judge: Judge, token: str) -> IggyClient:
    """A client that logs in with a token when it connects."""
    never = TcpReconnectionConfig(enabled=False)
    login = AutoLogin.personal_access_token(token)
    return IggyClient(TcpConfig(server_address=judge.address, auto_login=login, reconnection=never, **judge.tls))


async def token_login(judge: Judge) -> None:
    """A token logs in until it is deleted; the client creates and deletes it by raw requests, it has no other call."""
    root = await root_client(judge)
    name = bytes([8]) + b"py-token"
    answer = await root.send_binary_request(CREATE_TOKEN, name + HOUR_MICROS.to_bytes(8, "little"))
    token = answer[1:].decode()
    expect("length", answer[0], len(token))
    assert name in await root.send_binary_request(GET_TOKENS, b""), "the token is not listed"
    bearer = by_token(judge, token)
    await bearer.connect()
    await bearer.get_streams()
    await root.send_binary_request(DELETE_TOKEN, name)
    await expect_refusal("deleted", by_token(judge, token).connect(), "token")
    await expect_refusal("nobody's", by_token(judge, "A" * 67 + "=").connect(), "token")
    expect("tokens", await root.send_binary_request(GET_TOKENS, b""), b"")


async def deleted(judge: Judge) -> None:
    """A deleted user is gone: no session goes on, no login works."""
    root = await root_client(judge)
    ann = await login(judge, "ann", "other-pw")
    await root.delete_user("ann")
    try:
        await ann.get_streams()
    except RuntimeError:
        pass
    else:
        raise AssertionError("the session of a deleted user goes on")
    await expect_refusal("login", login(judge, "ann", "other-pw"), "Invalid credentials")
    expect("users", [user.username for user in await root.get_users()], ["iggy"])


CASES = [
    create_and_read,
    names_are_unique,
    permissions_are_live,
    password,
    inactive,
    root_stays,
    token_login,
    deleted,
]
