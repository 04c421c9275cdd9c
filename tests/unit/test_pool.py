"""Connections over real sockets: TLS, the environment's proxy, who is trusted and what is left behind."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trustme

from fakes import HANG, Forwarder, ScriptedUpstream, Step, completion
from fakes.script import Script
from proxy.errors import SettingsInvalid, UpstreamUnreachable
from proxy.pool import Origin, find_proxy, read_origin
from proxy.upstream import Upstream, read_upstream_url

CHAT = "/chat/completions"
BODY = b'{"model": "gpt-test", "messages": []}'
STEP = completion("It opened")

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module", params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """Run on both event loops: they differ most in TLS and in how a connection ends."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    """Return an authority that nobody trusts until told to."""
    return trustme.CA(key_type=trustme.KeyType.ECDSA)


def certify(authority: trustme.CA, name: str) -> ssl.SSLContext:
    """Return what a server needs to be `name`."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name, key_type=trustme.KeyType.ECDSA).configure_cert(context)
    return context


@pytest.fixture
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the environment name the authority."""
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[ScriptedUpstream]:
    """Return an upstream that speaks TLS."""
    with ScriptedUpstream(Script(draft=STEP), tls=certify(authority, "127.0.0.1")) as running:
        yield running


@pytest.fixture
def plain() -> Iterator[ScriptedUpstream]:
    """Return an upstream that does not."""
    with ScriptedUpstream(Script(draft=STEP)) as running:
        yield running


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Upstream]:
    """Return a pool for an upstream, closed in the end."""
    client = Upstream(read_upstream_url(url), timeout_s=5)
    try:
        yield client
    finally:
        await client.close()


async def ask(client: Upstream) -> bytes:
    """Send a chat request and return the whole raw body."""
    async with client.send("POST", CHAT, "a=1", [(b"X-A", b"\xe9")], BODY) as reply:
        return await reply.read()


def count_files() -> int:
    """Return how many files and sockets this process has open."""
    return len(list(Path("/dev/fd").iterdir()))


async def cancel_after(turns: int, calling: asyncio.Task[bytes], far: ScriptedUpstream) -> None:
    """Cancel a call after so many turns of the loop; every tenth once the upstream has it."""
    known = len(far.calls)
    for _ in range(turns):
        await asyncio.sleep(0)
    if turns % 10 == 0:
        await asyncio.to_thread(far.wait_for, lambda: len(far.calls) > known)
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)


class TestTls:
    """Whom we speak to."""

    @pytest.mark.usefixtures("trusted")
    async def test_authority_from_the_environment(self, secure: ScriptedUpstream) -> None:
        """An upstream certified by what `SSL_CERT_FILE` holds is spoken to, again and again on one connection."""
        async with connected(secure.url) as client:
            for _ in range(3):
                assert await ask(client) == STEP.content
            assert len(client._pool._idle) == 1
        assert secure.calls[-1].header("host") == [secure.url.removeprefix("https://")]

    async def test_unknown_authority(self, secure: ScriptedUpstream) -> None:
        """An upstream that nobody we trust has certified is told nothing."""
        async with connected(secure.url) as client:
            with pytest.raises(UpstreamUnreachable, match="SSLCertVerificationError"):
                await ask(client)
        assert secure.calls == []

    @pytest.mark.usefixtures("trusted")
    async def test_certificate_of_another(self, authority: trustme.CA) -> None:
        """A certificate for another name does not do."""
        with ScriptedUpstream(tls=certify(authority, "elsewhere.test")) as far:
            async with connected(far.url) as client:
                with pytest.raises(UpstreamUnreachable, match="SSLCertVerificationError"):
                    await ask(client)
            assert far.calls == []

    @pytest.mark.usefixtures("trusted")
    async def test_leaving_early_hangs_up(self, secure: ScriptedUpstream) -> None:
        """Who leaves while the body is still coming ends the upstream's work, without a farewell that may hang."""
        secure.play(Script(draft=STEP.interrupt(10, HANG)))
        async with connected(secure.url) as client:
            async with client.send("POST", CHAT, "", [], BODY) as reply:
                assert await anext(aiter(reply.stream()))
            await asyncio.to_thread(secure.wait_for, lambda: secure.calls[-1].peer_closed, timeout_s=1)


class TestProxy:
    """The environment's proxy."""

    @pytest.mark.usefixtures("trusted")
    async def test_secure_upstream(self, secure: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
        """The proxy is asked for a tunnel, and sees nothing but that; the upstream sees no trace of the proxy."""
        forwarder = Forwarder()
        async with forwarder.listening():
            monkeypatch.setenv("HTTPS_PROXY", f"http://me:p%40ss@{forwarder.address}")
            async with connected(secure.url) as client:
                assert [await ask(client) for _ in range(2)] == [STEP.content] * 2
        address = secure.url.removeprefix("https://")
        lines = [f"CONNECT {address} HTTP/1.1", f"Host: {address}", "Proxy-Authorization: Basic bWU6cEBzcw==", "", ""]
        assert forwarder.heads == ["\r\n".join(lines).encode()]
        assert secure.calls[-1].target == "/v1/chat/completions?a=1"
        assert secure.calls[-1].header("proxy-authorization") == []

    async def test_plain_upstream(self, plain: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without TLS the request itself goes to the proxy, with the whole address (RFC 9112, section 3.2.2)."""
        forwarder = Forwarder()
        async with forwarder.listening():
            monkeypatch.setenv("http_proxy", f"me:you@{forwarder.address}")
            async with connected(plain.url) as client:
                assert await ask(client) == STEP.content
        call = plain.calls[-1]
        assert call.target == f"{plain.url}/v1/chat/completions?a=1"
        assert call.headers == (
            ("Host", plain.url.removeprefix("http://")),
            ("X-A", "é"),
            ("Content-Length", str(len(BODY))),
            ("Proxy-Authorization", "Basic bWU6eW91"),
        )

    async def test_streamed_body(self, plain: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
        """What the proxy wants to know does not come between a body and its framing."""

        async def pieces() -> AsyncIterator[bytes]:
            yield b"ab"
            yield b"c"

        forwarder = Forwarder()
        async with forwarder.listening():
            monkeypatch.setenv("HTTP_PROXY", f"http://me:you@{forwarder.address}")
            async with connected(plain.url) as client, client.send("POST", "/files", "", [], pieces()) as reply:
                assert reply.is_success
        assert plain.calls[-1].body == b"abc"

    @pytest.mark.parametrize("answer", [b"HTTP/1.1 407 Who are you\r\ncontent-length: 0\r\n\r\n", b"SSH-2.0\r\n"])
    async def test_refusal(self, answer: bytes, secure: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch) -> None:
        """A proxy that does not let us through makes the upstream unreachable, and the upstream is told nothing."""
        forwarder = Forwarder(answer)
        async with forwarder.listening():
            monkeypatch.setenv("ALL_PROXY", f"http://{forwarder.address}")
            async with connected(secure.url) as client:
                with pytest.raises(UpstreamUnreachable, match=r"\((ProxyRefused|ProtocolError)\)"):
                    await ask(client)
        assert secure.calls == []

    @pytest.mark.parametrize(
        ("environment", "url", "proxy"),
        [
            ({}, "https://api.test/v1", None),
            ({"HTTPS_PROXY": "http://p:1"}, "https://api.test/v1", Origin("http", "p", 1)),
            ({"HTTPS_PROXY": "p:1"}, "https://api.test/v1", Origin("http", "p", 1)),
            ({"https_proxy": "https://p"}, "https://api.test/v1", Origin("https", "p", 443)),
            ({"HTTPS_PROXY": "http://p:1"}, "http://api.test/v1", None),
            ({"HTTP_PROXY": "http://u@[::1]:1"}, "http://api.test/v1", Origin("http", "::1", 1, "u:")),
            ({"ALL_PROXY": "http://p:1"}, "https://api.test/v1", Origin("http", "p", 1)),
            ({"ALL_PROXY": "http://p:1", "HTTPS_PROXY": "http://q:1"}, "https://api.test", Origin("http", "q", 1)),
            ({"HTTPS_PROXY": ""}, "https://api.test/v1", None),
            ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, "https://api.test/v1", None),
            ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.test, api.test"}, "https://api.test/v1", None),
            ({"HTTPS_PROXY": "http://p:1", "no_proxy": ".test"}, "https://api.test/v1", None),
            ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.test:8443"}, "https://api.test:8443/v1", None),
            ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "api.test:1"}, "https://api.test", Origin("http", "p", 1)),
            ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "::1"}, "https://[::1]/v1", None),
            ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "i.test"}, "https://api.test", Origin("http", "p", 1)),
        ],
    )
    def test_environment(
        self, environment: dict[str, str], url: str, proxy: Origin | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The variables mean what they mean to other programs."""
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert find_proxy(read_origin(url)) == proxy

    def test_unusable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A proxy of another kind stops the start; it is not silently gone around."""
        monkeypatch.setenv("ALL_PROXY", "socks5://p:1080")
        with pytest.raises(SettingsInvalid, match="NO_PROXY"):
            Upstream(read_upstream_url("https://api.test"), timeout_s=1)


class TestOrigin:
    """How a server is named."""

    @pytest.mark.parametrize(
        ("url", "authority", "address"),
        [
            ("http://h", "h", "h:80"),
            ("https://h:443/v1", "h", "h:443"),
            ("https://h:80", "h:80", "h:80"),
            ("http://[::1]:8000/v1", "[::1]:8000", "[::1]:8000"),
            ("https://[::1]", "[::1]", "[::1]:443"),
            ("https://bücher.example", "xn--bcher-kva.example", "xn--bcher-kva.example:443"),
        ],
    )
    def test_names(self, url: str, authority: str, address: str) -> None:
        """`Host` leaves a usual port out, CONNECT does not; names are sent in ASCII."""
        origin = read_origin(url)
        assert (origin.authority, origin.address) == (authority, address)

    def test_secret_is_not_shown(self) -> None:
        """What a log might show of a proxy has no password."""
        assert "secret" not in repr(read_origin("http://me:secret@p:1"))


class TestEnds:
    """What is left behind."""

    @pytest.mark.parametrize("step", [STEP.held(HANG), STEP.interrupt(10, HANG), STEP.chunked().interrupt(10, HANG)])
    async def test_cancelled_calls_leave_nothing(self, step: Step) -> None:
        """A call cancelled while it dials, sends, waits or reads leaves no socket open, on either side."""
        left = []
        for _ in range(2):  # the first round opens what the process keeps, such as the resolver's
            with ScriptedUpstream(Script(draft=step)) as far:
                async with connected(far.url) as client:
                    for turns in range(40):
                        await cancel_after(turns, asyncio.create_task(ask(client)), far)
                    await asyncio.to_thread(far.wait_for, lambda: all(call.peer_closed for call in far.calls))
                    assert client._pool._idle == {}
                    far.play(Script(draft=STEP))
                    assert await ask(client) == STEP.content  # the upstream has met all that came before
            left.append(count_files())
        assert left[1] <= left[0]

    async def test_idle_connection_that_the_upstream_closes(self) -> None:
        """A connection that the upstream has closed meanwhile is not used again."""
        with ScriptedUpstream(Script(draft=STEP)) as far:
            async with connected(far.url) as client:
                assert await ask(client) == STEP.content
                (idle,) = client._pool._idle
                assert idle.is_reusable
                await asyncio.to_thread(far._running.close)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                assert not idle.is_reusable
                assert client._pool._take_idle() is None
