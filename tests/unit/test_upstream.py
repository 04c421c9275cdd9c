"""Raw forwarding over real sockets: what the upstream sees, what comes back, and what its failures become."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager

import pytest
from structlog.testing import capture_logs

from fakes import CLOSE, HANG, Gate, Script, ScriptedUpstream, Step, completion, error, raw, sse, talk
from proxy.errors import BadPath, HttpError, UpstreamIncomplete, UpstreamSilent, UpstreamUnreachable
from proxy.headers import RawHeaders
from proxy.upstream import Upstream, UpstreamUrl, read_upstream_url

CHAT = "/chat/completions"
SECRET = "sk-secret"
BODY = b'{"model": "gpt-test", "messages": []}'
Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
TEXT = completion("서울 🌉 naïve").content


class TestUrl:
    """Where a request goes."""

    @pytest.mark.parametrize(
        ("url", "address"),
        [
            ("http://h", "http://h/v1/chat/completions"),
            ("http://h/", "http://h/v1/chat/completions"),
            ("http://h/v1", "http://h/v1/chat/completions"),
            ("http://h/v1/", "http://h/v1/chat/completions"),
            ("http://h:8000/api/v3", "http://h:8000/api/v3/chat/completions"),
            (
                "https://h/openai/deployments/d?api-version=2",
                "https://h/openai/deployments/d/chat/completions?api-version=2",
            ),
            ("https://h/d/?api-version=2", "https://h/d/chat/completions?api-version=2"),
            ("https://h?key=1", "https://h/v1/chat/completions?key=1"),
            ("http://[::1]:1/v1", "http://[::1]:1/v1/chat/completions"),
            ("http://h/über%20all?a=ü", "http://h/%C3%BCber%20all/chat/completions?a=%C3%BC"),
        ],
    )
    def test_base(self, url: str, address: str) -> None:
        """Every way to write a base address gives one right address; an empty path means `/v1`."""
        assert read_upstream_url(url).join(CHAT) == address

    @pytest.mark.parametrize(
        ("base_query", "query", "joined"),
        [
            ("", "", ""),
            ("a=1", "", "?a=1"),
            ("", "b=2", "?b=2"),
            ("a=1", "b=2", "?a=1&b=2"),
            ("a=1", "a=2&c=%20+", "?a=1&a=2&c=%20+"),
        ],
    )
    def test_query(self, base_query: str, query: str, joined: str) -> None:
        """The base's query comes first, then the client's; both as they are."""
        assert UpstreamUrl("http://h/v1", base_query).join("/models", query) == f"http://h/v1/models{joined}"

    @pytest.mark.parametrize(
        ("query", "masked"),
        [
            ("", ""),
            (f"key={SECRET}", "?key=***"),
            (f"api-version=2&key={SECRET}&key={SECRET}", "?api-version=***&key=***&key=***"),
            (f"key={SECRET}={SECRET}", "?key=***"),
            (SECRET, "?***"),
            ("a=", "?a=***"),
        ],
    )
    def test_mask(self, query: str, masked: str) -> None:
        """For a log every query value is hidden: some hold keys."""
        url = UpstreamUrl("http://h/v1", "")
        assert url.mask("/models", query) == f"http://h/v1/models{masked}"
        assert SECRET not in UpstreamUrl("http://h/v1", query).mask("/models", query)


@pytest.fixture(scope="module")
def anyio_backend() -> tuple[str, dict[str, bool]]:
    """Run on the event loop that the product is served on."""
    return "asyncio", {"use_uvloop": True}


@pytest.fixture(scope="module")
def far() -> Iterator[ScriptedUpstream]:
    """Return one scripted upstream for all tests; each plays a script of its own."""
    with ScriptedUpstream() as running:
        yield running


@pytest.fixture(scope="module")
async def near(far: ScriptedUpstream) -> AsyncIterator[Upstream]:
    """Return one pool of connections for all tests, as the product has."""
    client = Upstream(read_upstream_url(far.url), timeout_s=5)
    yield client
    await client.close()


@pytest.fixture(scope="module")
async def impatient(far: ScriptedUpstream) -> AsyncIterator[Upstream]:
    """Return a client that waits for next to nothing."""
    client = Upstream(read_upstream_url(f"{far.url}/v1?key={SECRET}"), timeout_s=0.2)
    yield client
    await client.close()


@pytest.fixture
def play(far: ScriptedUpstream) -> Iterator[None]:
    """Put the default story back after a test's own."""
    yield
    far.play(Script())


def answer(far: ScriptedUpstream, step: Step) -> None:
    """Answer every chat request so."""
    far.play(Script(draft=step))


async def ask(client: Upstream, headers: RawHeaders | None = None) -> bytes:
    """Send a chat request and return the whole raw body."""
    async with client.send("POST", CHAT, "", headers or [], BODY) as reply:
        return await reply.read()


async def pieces_of(*pieces: bytes) -> AsyncIterator[bytes]:
    """Yield a request's body."""
    for piece in pieces:
        yield piece


@pytest.mark.anyio
@pytest.mark.usefixtures("play")
class TestRequest:
    """What the upstream sees."""

    async def test_nothing_is_added(self, far: ScriptedUpstream, near: Upstream) -> None:
        """Method, target, header lines and body arrive as they were given; only host and length are set."""
        lines = [(b"X-A", b"1"), (b"x-a", b"\xe9"), (b"Authorization", b"Bearer k"), (b"accept", b"*/*")]
        async with near.send("POST", CHAT, "a=%7E&b=1+2&a=[]", lines, BODY) as reply:
            await reply.read()
        call = far.calls[-1]
        assert (call.method, call.target, call.body) == ("POST", "/v1/chat/completions?a=%7E&b=1+2&a=[]", BODY)
        given = [(name.decode(), value.decode("latin-1")) for name, value in lines]
        host = far.url.removeprefix("http://")
        assert list(call.headers) == [("Host", host), *given, ("Content-Length", str(len(BODY)))]

    @pytest.mark.parametrize("value", [b"\xe9", "é".encode(), b"\xff\xfe", b"a\tb", b"", b"x" * 60_000])
    async def test_header_bytes(self, value: bytes, far: ScriptedUpstream, near: Upstream) -> None:
        """A header's bytes arrive as they are, whatever text they are."""
        await ask(near, [(b"X-A", value)])
        assert far.calls[-1].header("x-a") == [value.decode("latin-1")]

    @pytest.mark.parametrize("value", [b"a\r\nX-B: 1", b"a\nb", b"a\rb", b"a\0"])
    async def test_header_that_would_be_two(self, value: bytes, far: ScriptedUpstream, near: Upstream) -> None:
        """A header that would end its line is not sent, nor shown."""
        before = len(far.calls)
        with pytest.raises(UpstreamUnreachable, match="line break") as caught:
            await ask(near, [(b"Authorization", SECRET.encode() + value)])
        assert SECRET not in str(caught.value)
        assert len(far.calls) == before

    async def test_nobody_is_waited_for(self, far: ScriptedUpstream, near: Upstream) -> None:
        """A client's `Expect` is passed on; whether the upstream asks for the body or not, it gets it."""
        await ask(near, [(b"Expect", b"100-continue")])
        call = far.calls[-1]
        assert (call.header("expect"), call.body) == (["100-continue"], BODY)

    @pytest.mark.parametrize("path", ["/models/a%20b%C3%A9", "/files/a'b(c)!$&,;=:@~", "/x/", "/models/ft:a", ""])
    async def test_path_is_kept(self, path: str, far: ScriptedUpstream, near: Upstream) -> None:
        """A path is neither decoded nor encoded anew."""
        async with near.send("GET", path, "", [], None):
            pass
        assert far.calls[-1].target == f"/v1{path}"

    @pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS", "HEAD", "POST", "PUT", "PATCH"])
    async def test_request_without_body(self, method: str, far: ScriptedUpstream, near: Upstream) -> None:
        """A request without a body has none, and no framing for one."""
        async with near.send(method, "/files/f", "", [], None) as reply:
            await reply.read()
        call = far.calls[-1]
        assert (call.method, call.body) == (method, b"")
        assert [name for name, _ in call.headers] == ["Host"]

    async def test_streamed_body(self, far: ScriptedUpstream, near: Upstream) -> None:
        """A body of unknown length goes in chunks; one of known length keeps it."""
        async with near.send("POST", "/files", "", [], pieces_of(b"ab", b"", b"c")):
            pass
        call = far.calls[-1]
        assert (call.body, call.header("transfer-encoding")) == (b"abc", ["chunked"])
        async with near.send("POST", "/files", "", [(b"Content-Length", b"3")], pieces_of(b"ab", b"c")):
            pass
        call = far.calls[-1]
        assert (call.body, call.header("content-length"), call.header("transfer-encoding")) == (b"abc", ["3"], [])

    async def test_empty_body(self, far: ScriptedUpstream, near: Upstream) -> None:
        """An empty body is not the same as none: it has a length."""
        async with near.send("POST", CHAT, "", [], b""):
            pass
        assert (far.calls[-1].body, far.calls[-1].header("content-length")) == (b"", ["0"])

    async def test_body_that_fails(self, far: ScriptedUpstream, near: Upstream) -> None:
        """Where the client's body breaks off, that is what is told, and the upstream is hung up on."""

        async def break_off() -> AsyncIterator[bytes]:
            yield b"a"
            raise LookupError

        before = len(far.calls)
        with pytest.raises(LookupError):
            async with near.send("POST", "/files", "", [], break_off()):
                pass
        assert len(far.calls) == before

    async def test_no_cookie_jar(self, far: ScriptedUpstream, near: Upstream) -> None:
        """What the upstream sets for one client reaches no other; each call has its own key only."""
        answer(far, completion("a").with_headers(("Set-Cookie", "a=1; Path=/"), ("set-cookie", "b=2")))
        for key in ("k1", "k2"):
            await ask(near, [(b"Authorization", f"Bearer {key}".encode())])
            assert far.calls[-1].header("authorization") == [f"Bearer {key}"]
            assert far.calls[-1].header("cookie") == []

    @pytest.mark.parametrize("path", ["/a\x7fb", "/a\x00", "/" + "a" * 70_000])
    async def test_no_address(self, path: str, far: ScriptedUpstream, near: Upstream) -> None:
        """A path that no address may hold is refused before anything is sent."""
        before = len(far.calls)
        with pytest.raises(BadPath):
            async with near.send("GET", path, "", [], None):
                pass
        assert len(far.calls) == before


@pytest.mark.anyio
@pytest.mark.usefixtures("play")
class TestReply:
    """What comes back."""

    async def test_head(self, far: ScriptedUpstream, near: Upstream) -> None:
        """Status and header lines come as they were sent, case and repeats too."""
        lines = (("X-Request-Id", "up-1"), ("x-a", "1"), ("X-A", "2"), ("Retry-After", "7"))
        answer(far, error(429).with_headers(*lines))
        async with near.send("POST", CHAT, "", [], BODY) as reply:
            assert (reply.status, reply.is_success) == (429, False)
            got = [(name.decode(), value.decode()) for name, value in reply.headers]
        assert [line for line in got if line in lines] == list(lines)

    @pytest.mark.parametrize(("status", "success"), [(200, True), (201, True), (204, True), (302, False), (500, False)])
    async def test_status(self, status: int, success: bool, far: ScriptedUpstream, near: Upstream) -> None:
        """Every status is passed on; nothing is followed, nothing is tried again."""
        answer(far, Step(status=status, headers=(("location", f"{far.url}/v1/elsewhere"),), body=(b"x",)))
        before = len(far.calls)
        async with near.send("POST", CHAT, "", [], BODY) as reply:
            assert (reply.status, reply.is_success) == (status, success)
        assert len(far.calls) == before + 1

    @pytest.mark.parametrize("packed", [False, True])
    async def test_body(self, packed: bool, far: ScriptedUpstream, near: Upstream) -> None:
        """The body is what was sent, to the byte, compressed or not; decoding is a step of its own."""
        step = completion("서울 🌉 naïve")
        step = step.gzipped() if packed else step
        answer(far, step)
        async with near.send("POST", CHAT, "", [], BODY) as reply:
            read = await reply.read()
            assert read == step.content
            assert reply.decode(read) == TEXT
        assert packed == (step.content != TEXT)

    async def test_body_that_comes_in_bits(self, far: ScriptedUpstream, near: Upstream) -> None:
        """Cuts inside characters change nothing."""
        answer(far, completion("서울 🌉 naïve").chunked().cut(*range(len(TEXT))))
        assert await ask(near) == TEXT

    @pytest.mark.parametrize("packed", [False, True])
    async def test_stream(self, packed: bool, far: ScriptedUpstream, near: Upstream) -> None:
        """A stream is read as it comes, compressed or not: its first event while the rest is still out."""
        step = Step(body=(b"data: 1\n\n", HANG, b"data: 2\n\n"), framing="chunked")
        answer(far, step.gzipped() if packed else step)
        async with near.send("POST", CHAT, "", [], BODY) as reply:
            assert await anext(aiter(reply.stream_decoded())) == b"data: 1\n\n"

    @pytest.mark.parametrize("body", [b"no gzip at all", gzip.compress(b"x" * 99)[:-9] + b"broken!!!"])
    async def test_encoding_that_is_a_lie(self, body: bytes, far: ScriptedUpstream, near: Upstream) -> None:
        """What cannot be decoded is None: it is passed on, not verified."""
        answer(far, Step(headers=(("content-encoding", "gzip"),), body=(body,)))
        async with near.send("POST", CHAT, "", [], BODY) as reply:
            read = await reply.read()
            assert read == body
            assert reply.decode(read) is None

    async def test_leaving_early_hangs_up(self, far: ScriptedUpstream, near: Upstream) -> None:
        """Who leaves while the body is still coming ends the upstream's work too."""
        answer(far, completion("It opened").interrupt(10, HANG))
        async with near.send("POST", CHAT, "", [], BODY) as reply:
            assert await anext(aiter(reply.stream()))
        far.wait_for(lambda: far.calls[-1].peer_closed, timeout_s=1)

    async def test_not_found_is_logged(self, far: ScriptedUpstream, impatient: Upstream) -> None:
        """A 404 is mostly a wrong base address: the log has the whole address that was tried, its query masked."""
        answer(far, error(404))
        with capture_logs() as logs:
            async with impatient.send("POST", CHAT, f"user={SECRET}", [], BODY) as reply:
                assert reply.status == 404
        address = f"{far.url}/v1/chat/completions?key=***&user=***"
        assert [(entry["log_level"], entry["url"]) for entry in logs] == [("warning", address)]


@asynccontextmanager
async def answering(talk: Talk, *, timeout_s: float = 5) -> AsyncIterator[Upstream]:
    """Return a client of a server that does on each connection what no server should."""
    talking: list[asyncio.Task[None]] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talking.append(task)
        try:
            await reader.readuntil(b"\r\n\r\n")
            await talk(reader, writer)
        except asyncio.CancelledError:
            pass  # The test is over.
        finally:
            writer.transport.abort()

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        client = Upstream(
            read_upstream_url("http://{}:{}".format(*server.sockets[0].getsockname())), timeout_s=timeout_s
        )
        yield client
        await client.close()
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking)


def make_body(size: int | None) -> bytes | AsyncIterator[bytes]:
    """Return a body of so many bytes, or one without an end."""

    async def go_on() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 65_536

    return go_on() if size is None else b"x" * size


@pytest.mark.anyio
@pytest.mark.usefixtures("play")
class TestConnection:
    """What the wire may bring besides one good reply."""

    @pytest.mark.parametrize("end", ["\r\n", "\n"])
    async def test_head_bytes(self, end: str, far: ScriptedUpstream, near: Upstream) -> None:
        """A reply's header lines come as they were sent, whatever text they are; only blanks around them go."""
        lines = ["HTTP/1.1 299", "X-A: \xe9\xff", "x-a:  2 \t", "X-B: a\tb", "X-C:", "Connection: close", "", "ok"]
        answer(far, raw(end.join(lines).encode("latin-1")))
        async with near.send("POST", CHAT, "", [], BODY) as reply:
            assert (reply.status, await reply.read()) == (299, b"ok")
        pairs = [(b"X-A", b"\xe9\xff"), (b"x-a", b"2"), (b"X-B", b"a\tb"), (b"X-C", b""), (b"Connection", b"close")]
        assert reply.headers == pairs

    async def test_large_head(self, far: ScriptedUpstream, near: Upstream) -> None:
        """Long lines and many of them are no fault."""
        lines = (("x-long", "a" * 100_000), *((f"x-{number}", "a") for number in range(1000)))
        answer(far, completion("a").with_headers(*lines))
        async with near.send("POST", CHAT, "", [], BODY) as reply:
            assert len(reply.headers) == len(lines) + 2
            assert await reply.read() == completion("a").content

    @pytest.mark.parametrize(
        "head",
        [
            b"HTTP/1.1 200 OK\r\nx-a: " + b"a" * 300_000,
            b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000,
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\nx-a: \0\r\n\r\na",
            b"HTTP/2 200\r\n\r\n",
        ],
    )
    async def test_no_reply(self, head: bytes, far: ScriptedUpstream, near: Upstream) -> None:
        """What is no end of a head, or could be read in two ways, is no reply."""
        answer(far, raw(head, HANG))
        with pytest.raises(UpstreamUnreachable, match="ProtocolError"):
            await ask(near)

    async def test_interim_replies(self, far: ScriptedUpstream, near: Upstream) -> None:
        """Interim replies are not the reply, and leave nothing in it (RFC 9110, section 15.2)."""
        interim = b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
        answer(far, raw(*interim, b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok"))
        async with near.send("POST", CHAT, "", [], BODY) as reply:
            assert (reply.status, reply.headers) == (200, [(b"connection", b"close")])
            assert await reply.read() == b"ok"

    @pytest.mark.parametrize(
        ("method", "step"),
        [
            ("HEAD", Step(body=(b"x",))),
            ("POST", Step(status=204)),
            ("POST", Step(status=304, headers=(("content-length", "9"),))),
            ("POST", Step()),
            ("POST", completion("a")),
            ("POST", completion("a").chunked()),
            ("POST", completion("a" * 3_000_000)),
        ],
    )
    async def test_connection_is_kept(self, method: str, step: Step, far: ScriptedUpstream) -> None:
        """After a whole reply, of whatever kind, the next request goes out on the same connection."""
        far.play(Script(draft=step, other=step))
        client = Upstream(read_upstream_url(far.url), timeout_s=5)
        kept = set()
        for _ in range(3):
            async with client.send(method, CHAT, "", [], None if method == "HEAD" else BODY) as reply:
                assert await reply.read() == (step.content if method == "POST" else b"")
            kept |= set(client._pool._idle)
        assert len(kept) == 1
        await client.close()

    async def test_reply_left_unread(self, far: ScriptedUpstream, near: Upstream) -> None:
        """Who leaves a reply unread, large or small, does not hand it to the next."""
        for content in ("a", "a" * 1_000_000):
            answer(far, completion(content))
            async with near.send("POST", CHAT, "", [], BODY) as reply:
                assert reply.is_success
            answer(far, completion("b"))
            assert await ask(near) == completion("b").content

    @pytest.mark.parametrize("late", [False, True])
    async def test_reply_that_nobody_asked_for(self, late: bool, far: ScriptedUpstream, near: Upstream) -> None:
        """A second reply to one request, at once or while the connection is idle, is no answer to the next."""
        first = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
        second = b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nothers"
        gate = Gate()
        answer(far, raw(first, gate, second, HANG) if late else raw(first + second, HANG))
        assert await ask(near) == b"ok"
        answered = far.calls[-1]
        gate.open()
        await asyncio.to_thread(far.wait_for, lambda: answered.peer_closed)
        answer(far, completion("mine"))
        assert await ask(near) == completion("mine").content

    @pytest.mark.parametrize("size", [5_000_000, None])
    async def test_early_refusal(self, size: int | None) -> None:
        """An upstream that answers before it has read the body is heard, and the rest is not sent."""

        async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno")
            await asyncio.Future()

        async with answering(refuse) as client, client.send("POST", "/files", "", [], make_body(size)) as reply:
            assert (reply.status, await reply.read()) == (413, b"no")

    @pytest.mark.parametrize("size", [5_000_000, None])
    async def test_upstream_that_reads_nothing(self, size: int | None) -> None:
        """An upstream that takes no more of the body is silent."""

        async def ignore(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> None:
            await asyncio.Future()

        async with answering(ignore, timeout_s=0.1) as client:
            with pytest.raises(UpstreamSilent):
                async with client.send("POST", "/files", "", [], make_body(size)):
                    pass

    @pytest.mark.parametrize("size", [5_000_000, None])
    async def test_upstream_that_closes_on_the_body(self, size: int | None) -> None:
        """An upstream that closes within the body, without an answer, is unreachable."""

        async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.abort()

        async with answering(close) as client:
            with pytest.raises(UpstreamUnreachable, match=r"\((ConnectionResetError|BrokenPipeError)\)"):
                async with client.send("POST", "/files", "", [], make_body(size)):
                    pass

    @pytest.mark.parametrize("head", [b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", b"\r\nhello"])
    @pytest.mark.parametrize("fault", ["nonsense", "reset"])
    async def test_fault_within_the_body(self, head: bytes, fault: str) -> None:
        """What came before a broken chunk or a reset is passed on; the reply is then not taken for whole."""

        async def spoil(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\n" + head)
            await proceed.wait()
            if fault == "nonsense":
                writer.write(b"zz\r\n")
            linger = struct.pack("ii", 1, 0)  # close with a reset
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()

        proceed = asyncio.Event()
        async with answering(spoil) as client, client.send("POST", CHAT, "", [], BODY) as reply:
            pieces = reply.stream()
            assert await anext(pieces) == b"hello"
            proceed.set()
            with pytest.raises(UpstreamIncomplete):
                [piece async for piece in pieces]


@pytest.mark.anyio
@pytest.mark.usefixtures("play")
class TestFailure:
    """What the upstream's failures become."""

    @pytest.mark.parametrize(
        ("step", "kind"),
        [
            (completion("It opened").held(HANG), UpstreamSilent),
            (completion("It opened").interrupt(20, HANG), UpstreamSilent),
            (completion("It opened").held(CLOSE), UpstreamUnreachable),
            (raw(b"SSH-2.0-OpenSSH_9.2\r\n"), UpstreamUnreachable),
            (raw(b"HTTP/1.1 200 OK\r\ncontent-le"), UpstreamUnreachable),
            (completion("It opened").interrupt(20, CLOSE), UpstreamIncomplete),
            (completion("It opened").chunked().interrupt(20, CLOSE), UpstreamIncomplete),
            (sse(*talk("It opened")).interrupt(50, CLOSE), UpstreamIncomplete),
        ],
    )
    async def test_failure(self, step: Step, kind: type[HttpError], far: ScriptedUpstream, impatient: Upstream) -> None:
        """Silence, no answer and half an answer are told apart; the text names the exception, and no key."""
        answer(far, step)
        before = len(far.calls)
        with pytest.raises(kind, match=r"\(\w+(Error|Timeout)\)") as caught:
            await ask(impatient, [(b"Authorization", b"Bearer sk-secret")])
        assert SECRET not in str(caught.value)
        assert len(far.calls) == before + 1

    async def test_nobody_there(self) -> None:
        """Where nobody listens, the upstream is unreachable."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        client = Upstream(read_upstream_url(f"http://127.0.0.1:{port}"), timeout_s=1)
        with pytest.raises(UpstreamUnreachable, match="ConnectionRefusedError"):
            await ask(client)
        await client.close()

    async def test_slow_is_not_silent(self, far: ScriptedUpstream, impatient: Upstream) -> None:
        """The limit is for each wait, not for the whole reply."""
        step = completion("It opened")
        for place in (10, 20, 30):
            step = step.interrupt(place, 0.08)
        answer(far, step)
        assert await ask(impatient) == step.content

    async def test_body_that_ends_with_the_connection(self, far: ScriptedUpstream, near: Upstream) -> None:
        """A reply without a length ends when the connection does."""
        answer(far, Step(framing="close", body=(b"It ", b"opened")))
        assert await ask(near) == b"It opened"
