"""What a client trusts when the server encrypts."""

import os

from apache_iggy import AutoLogin, IggyClient, TcpConfig, TcpReconnectionConfig

import http_cases
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


async def https_not_trusted(judge: Judge) -> None:
    """Over HTTPS the server's certificate is refused while the system does not trust its authority."""
    trusted = os.environ.pop("SSL_CERT_FILE")
    try:
        client = http_cases.stranger(judge)
        await client.connect()
        await client.login_user("iggy", "iggy")
    except RuntimeError:
        return
    finally:
        os.environ["SSL_CERT_FILE"] = trusted
    raise AssertionError("a certificate of an unknown authority was accepted")


CASES = [authority_by_connection_string, authority_not_trusted, https_not_trusted]
