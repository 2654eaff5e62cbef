"""What a client trusts when the server encrypts."""

from apache_iggy import AutoLogin, IggyClient, TcpConfig, TcpReconnectionConfig

from case import Judge


async def authority_by_connection_string(judge: Judge) -> None:
    """A connection string names the authority to trust."""
    options = f"tls=true&tls_domain=localhost&tls_ca_file={judge.ca_file}"
    client = IggyClient.from_connection_string(f"iggy+tcp://iggy:iggy@{judge.address}?{options}")
    await client.connect()
    await client.get_streams()


async def authority_not_trusted(judge: Judge) -> None:
    """Without the authority the server's certificate is refused."""
    client = IggyClient(
        TcpConfig(
            server_address=judge.address,
            auto_login=AutoLogin.username_password("iggy", "iggy"),
            reconnection=TcpReconnectionConfig(enabled=False),
            tls_enabled=True,
            tls_domain="localhost",
        )
    )
    try:
        await client.connect()
    except RuntimeError:
        return
    raise AssertionError("a certificate of an unknown authority was accepted")


CASES = [authority_by_connection_string, authority_not_trusted]
