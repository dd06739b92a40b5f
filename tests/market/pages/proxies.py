"""What a test of a proxy in front needs: a port, a certificate of its own, a market behind, a caller who trusts it."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import httpx
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pdqs.market import Settings, round_steps
from pdqs.market.http.app import create_app
from pdqs.market.http.serving import served as serving

from .site import Clock, Site

DEPLOY = Path(__file__).parents[3] / "deploy"


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def certificate_for(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine that nobody signed but itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    names: list[x509.GeneralName] = [
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, secret = folder / "test.pem", folder / "test.key"
    pem.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    kind = serialization.PrivateFormat.PKCS8
    secret.write_bytes(key.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption()))
    return pem, secret


@contextmanager
def answering(process: subprocess.Popen[bytes], port: int, log: Path) -> Iterator[None]:
    """A proxy that was started, once it takes connections; it is stopped at the end."""
    try:
        end = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, log.read_text(encoding="utf-8")
                assert time.monotonic() < end
                time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


@contextmanager
def market_behind(front: Callable[[int, int], AbstractContextManager[None]], folder: Path) -> Iterator[Site]:
    """A market at https://127.0.0.1:PORT/market; ``front`` starts the proxy, given its port and the market's."""
    port, clock = free_port(), Clock()
    settings = Settings(
        database_url=f"sqlite:///{folder / 'market.db'}",
        tick_seconds=0.1,
        public_url=f"https://127.0.0.1:{port}/market",
        trusted_proxies="127.0.0.1",
    )
    app = create_app(settings, clock)
    with serving(app) as inside, front(port, int(inside.rsplit(":", 1)[1])):
        operator = round_steps.first_operator(app.state.market).user
        yield Site(settings.public_url, app.state.market, clock, operator, folder)


def caller_of(site: Site) -> httpx.Client:
    """A caller who trusts the certificate of the proxy in front."""
    trusted = ssl.create_default_context(cafile=str(site.folder / "test.pem"))
    return httpx.Client(base_url=site.address, verify=trusted, timeout=120)
