"""What every case needs: a judge that runs it and prints its line, clients, and ways to expect something."""

import asyncio
import datetime
import os
import sys
import traceback
from collections.abc import Awaitable, Callable

from apache_iggy import AutoLogin, IggyClient, TcpConfig, TcpReconnectionConfig, WebSocketConfig

# A case takes milliseconds; the two with 8 MiB and 5,000 messages stay under 5 s on a busy machine.
CASE_TIMEOUT_S = 60


class Judge:
    """Runs cases against one server. A case is an async function of the judge; its docstring is its title."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.websocket_address = os.environ["JUDGE_WEBSOCKET_ADDRESS"]
        # With an authority to trust the server encrypts; then every client does.
        self.ca_file = os.environ.get("JUDGE_CA_FILE")
        self._client: IggyClient | None = None

    @property
    def tls(self) -> dict[str, object]:
        """What a client of this server is told about TLS."""
        if self.ca_file is None:
            return {}
        return {"tls_enabled": True, "tls_domain": "localhost", "tls_ca_file": self.ca_file}

    async def run(self, case: Callable[["Judge"], Awaitable[None]]) -> None:
        title = " ".join((case.__doc__ or case.__name__).split()).rstrip(".")
        try:
            await asyncio.wait_for(case(self), CASE_TIMEOUT_S)
        except BaseException as error:  # a panic inside the client arrives as a BaseException
            frames = traceback.extract_tb(error.__traceback__)
            own = [frame for frame in frames if frame.filename.endswith("_cases.py")] or frames
            reason = f"{type(error).__name__}: {error} (line {own[-1].lineno}: {own[-1].line})"
            print(f"FAILED {title}: {reason}".replace("\n", "\\n"), flush=True)
        else:
            print(f"ok {title}", flush=True)

    async def client(self) -> IggyClient:
        """The client that cases share: connected, logged in as root."""
        if self._client is None:
            self._client = await self.new_client()
        return self._client

    async def fresh_client(self) -> IggyClient:
        """Shares a new client from now on, whose heartbeats are rarer than a restart is long.

        A heartbeat of the official client that meets a server which is down right then makes the next call
        fail instead of waiting for the new connection.
        """
        self._client = await self.new_client(heartbeat_interval=datetime.timedelta(minutes=2))
        return self._client

    async def new_client(self, **more: object) -> IggyClient:
        """One more logged-in client; it comes back by itself after a lost connection."""
        login = AutoLogin.username_password("iggy", "iggy")
        client = IggyClient(TcpConfig(server_address=self.address, auto_login=login, **self.tls, **more))
        await client.connect()
        return client

    async def new_websocket_client(self) -> IggyClient:
        """The same over WebSocket."""
        login = AutoLogin.username_password("iggy", "iggy")
        client = IggyClient(WebSocketConfig(server_address=self.websocket_address, auto_login=login, **self.tls))
        await client.connect()
        return client

    def stranger(self) -> IggyClient:
        """A client that is neither connected nor going to log in by itself, and gives up at once."""
        never = TcpReconnectionConfig(enabled=False)
        return IggyClient(TcpConfig(server_address=self.address, reconnection=never, **self.tls))

    async def restart_server(self) -> None:
        """Has the server killed and started again on the same port and data."""
        await self.order("restart", "running")

    async def order(self, word: str, wanted: str) -> None:
        """Has something done to the server and waits for the answer."""
        print(word, flush=True)
        answer = await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
        assert answer == f"{wanted}\n", f"the order {word} was answered with {answer!r}"


def expect(what: str, seen: object, wanted: object) -> None:
    """Compares, and says both values when they differ, cut to a readable length."""
    assert seen == wanted, f"{what}: {str(seen)[:300]}, expected {str(wanted)[:300]}"


async def expect_refusal(what: str, call: Awaitable[object], text: str) -> None:
    """Expects the call to fail with an error whose words contain `text`."""
    try:
        answer = await call
    except RuntimeError as error:
        assert text.lower() in str(error).lower(), f"{what}: refused with {error!s}, expected {text!r}"
    else:
        raise AssertionError(f"{what}: accepted with {answer!r}, expected {text!r}")
