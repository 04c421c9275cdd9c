"""The scripted upstream on the wire: exact bytes, decided order, honest records, nothing left behind."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import h11
import httpx
import pytest

from fakes import CLOSE, HANG, AnyTask, F, Gate, Script, ScriptedUpstream, Step, completion, connect, raw, sse, talk

CHAT = "/v1/chat/completions"
TEXT = Step(headers=(("Content-Type", "text/plain"),), body=("서울 🌉".encode(),))


@pytest.fixture
def client(upstream: ScriptedUpstream) -> Iterator[httpx.Client]:
    with connect(upstream.url) as client:
        yield client


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as pool:
        yield pool


def dial(upstream: ScriptedUpstream) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(upstream.url.rpartition(":")[2])))


def exchange(upstream: ScriptedUpstream, request: bytes) -> bytes:
    """Send raw bytes; return all that comes until the server closes."""
    with dial(upstream) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_chunked_step_sends_each_piece_as_a_chunk(upstream: ScriptedUpstream) -> None:
    """What was cut stays cut on the wire, inside a character too."""
    upstream.play(Script(draft=TEXT.cut(1, 8).chunked()))
    received = exchange(upstream, b"POST %b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % CHAT.encode())
    assert received.partition(b"\r\n\r\n")[2] == (
        b"1\r\n\xec\r\n7\r\n\x84\x9c\xec\x9a\xb8 \xf0\r\n3\r\n\x9f\x8c\x89\r\n0\r\n\r\n"
    )


def test_chunked_cuts_are_seen_by_the_client(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """A client reads single bytes where a step is cut after each."""
    size = len(TEXT.content)
    upstream.play(Script(draft=TEXT.cut(*range(size)).chunked()))
    with client.stream("POST", CHAT) as response:
        assert [len(piece) for piece in response.iter_raw()] == [1] * size


def test_raw_step_is_the_whole_response(upstream: ScriptedUpstream) -> None:
    """Nothing is added to a raw step, and the connection closes after it."""
    upstream.play(Script(draft=raw(b"HTTP/1.1 299 ", b"Odd\r\n\r\nhi")))
    assert exchange(upstream, b"POST %b HTTP/1.1\r\nHost: x\r\n\r\n" % CHAT.encode()) == b"HTTP/1.1 299 Odd\r\n\r\nhi"


def test_close_framing_ends_the_body_with_the_connection(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """A body without a length is whole where the server closes."""
    upstream.play(Script(draft=Step(body=(b"all of it",), framing="close")))
    response = client.post(CHAT)
    assert response.content == b"all of it"
    assert response.headers["connection"] == "close"


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_body_closed_in_the_middle(upstream: ScriptedUpstream, client: httpx.Client, *, chunked: bool) -> None:
    """The client gets what was sent before the close, and then an incomplete body."""
    step = TEXT.interrupt(4, CLOSE)
    upstream.play(Script(draft=step.chunked() if chunked else step))
    with client.stream("POST", CHAT) as response:
        received = response.iter_raw()
        assert next(received) == TEXT.content[:4]
        with pytest.raises(httpx.RemoteProtocolError, match="complete"):
            next(received)


def test_close_before_the_first_byte(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """A connection can be closed in place of an answer."""
    upstream.play(Script(draft=completion(F).held(CLOSE)))
    with pytest.raises(httpx.RemoteProtocolError, match="without sending"):
        client.post(CHAT)


@pytest.mark.parametrize("step", [completion(F), sse(*talk("a", "b"))], ids=["whole", "stream"])
def test_gzipped_step_is_readable(upstream: ScriptedUpstream, client: httpx.Client, step: Step) -> None:
    """Compressed or not, whole or stream, the client reads the same."""
    upstream.play(Script(draft=step.gzipped()))
    response = client.post(CHAT)
    assert response.headers["content-encoding"] == "gzip"
    assert response.content == step.content


@pytest.mark.parametrize("status", [204, 304])
def test_status_without_body_has_no_body(upstream: ScriptedUpstream, client: httpx.Client, status: int) -> None:
    """204 and 304 carry neither body nor framing, and the connection goes on."""
    upstream.play(Script(other=Step(status=status, body=(b"never sent",))))
    for _ in range(2):
        response = client.get("/v1/models")
        assert response.status_code == status
        assert response.content == b""
        assert "content-length" not in response.headers


def test_head_is_answered_without_body(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """HEAD gets the length that GET would have, and no body."""
    upstream.play(Script(other=TEXT))
    response = client.head("/v1/models")
    assert response.headers["content-length"] == str(len(TEXT.content))
    assert client.get("/v1/models").content == TEXT.content


def test_gate_holds_the_answer(
    upstream: ScriptedUpstream, client: httpx.Client, background: ThreadPoolExecutor
) -> None:
    """Nothing is answered before the gate opens."""
    gate = Gate()
    upstream.play(Script(draft=completion(F).held(gate)))
    answer = background.submit(client.post, CHAT)
    upstream.wait_for(lambda: upstream.tasks() == ["draft"])
    assert upstream.calls[0].answered_s is None
    assert not answer.done()
    gate.open()
    assert answer.result().content == completion(F).content
    assert upstream.calls[0].answered_s is not None


def test_gate_holds_the_rest_of_a_body(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """What stands before a gate arrives while the gate is shut."""
    gate = Gate()
    upstream.play(Script(draft=TEXT.interrupt(3, gate)))
    with client.stream("POST", CHAT) as response:
        received = response.iter_raw()
        assert next(received) == TEXT.content[:3]
        gate.open()
        assert b"".join(received) == TEXT.content[3:]


def test_gate_with_parties_proves_overlap(
    upstream: ScriptedUpstream, client: httpx.Client, background: ThreadPoolExecutor
) -> None:
    """Two calls that wait for each other both came before either was answered."""
    both = Gate(parties=2)
    upstream.play(Script(draft=completion(F).held(both), other=TEXT.held(both)))
    answers: list[Future[httpx.Response]] = [
        background.submit(client.post, CHAT),
        background.submit(client.get, "/v1/x"),
    ]
    assert [answer.result().status_code for answer in answers] == [200, 200]
    assert upstream.entered_before_answered("draft", "other")


def test_calls_one_after_the_other_do_not_overlap(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """Neither calls in sequence nor a call that never came count as overlap."""
    client.post(CHAT)
    assert not upstream.entered_before_answered("draft", "other")
    client.get("/v1/models")
    assert not upstream.entered_before_answered("draft", "other")


def test_gate_forgotten_shut_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate that nobody opens lets the call go on, and the upstream reports it."""
    monkeypatch.setattr("fakes.upstream._GATE_LIMIT_S", 0.01)
    script = Script(draft=completion(F).held(Gate()))
    with pytest.RaisesGroup(TimeoutError), ScriptedUpstream(script) as upstream, connect(upstream.url) as client:
        assert client.post(CHAT).content == completion(F).content


def test_pause_in_seconds(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """A pause lasts at least as long as it says."""
    upstream.play(Script(draft=TEXT.held(0.02)))
    client.post(CHAT)
    (call,) = upstream.calls
    assert call.answered_s is not None
    assert call.answered_s - call.entered_s >= 0.02


@pytest.mark.parametrize(
    "step", [completion(F).held(HANG), completion(F).interrupt(9, HANG)], ids=["no byte", "half a body"]
)
def test_hang_up_is_noticed(upstream: ScriptedUpstream, step: Step) -> None:
    """A client that goes away from an unfinished answer is recorded as gone."""
    upstream.play(Script(draft=step))
    with connect(upstream.url, timeout_s=0.05) as client, pytest.raises(httpx.ReadTimeout):
        client.post(CHAT)
    upstream.wait_for(lambda: upstream.calls[0].peer_closed, timeout_s=1)


def test_client_that_leaves_after_its_answer_did_not_hang_up(upstream: ScriptedUpstream) -> None:
    """Closing the connection after a whole answer is no hang-up."""
    for _ in range(20):
        with connect(upstream.url) as client:
            client.post(CHAT)
    assert [call.peer_closed for call in upstream.calls] == [False] * 20


@pytest.mark.parametrize("task", ["draft", "other"])
def test_shutdown_ends_hanging_connections(task: AnyTask) -> None:
    """Leaving the upstream ends what hangs, its thread and its socket."""
    before = set(threading.enumerate())
    with ScriptedUpstream(Script(draft=TEXT.held(HANG), other=TEXT.interrupt(2, Gate()))) as upstream:
        connection = dial(upstream)
        path = CHAT if task == "draft" else "/v1/models"
        connection.sendall(b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % path.encode())
        upstream.wait_for(lambda: len(upstream.of(task)) == 1)
    with connection:
        while connection.recv(65536):
            pass
    assert set(threading.enumerate()) == before
    with connect(upstream.url) as client, pytest.raises(httpx.ConnectError):
        client.get("/")


def test_gate_opened_after_shutdown_is_harmless() -> None:
    """Opening a gate whose waiters are gone does nothing."""
    gate = Gate()
    with ScriptedUpstream(Script(draft=completion(F).held(gate))) as upstream:
        with connect(upstream.url, timeout_s=0.05) as client, pytest.raises(httpx.ReadTimeout):
            client.post(CHAT)
        upstream.wait_for(lambda: upstream.calls[0].peer_closed)
    gate.open()


def test_request_is_recorded_as_sent(upstream: ScriptedUpstream) -> None:
    """Method, target, header case, order and repeats, and the body's bytes are kept."""
    body = b'{"model":  "m", "messages": [{"role": "user", "content": "hi"}]}'
    head = b"POST %b?a=1&a=%%2F HTTP/1.1\r\nHost: x\r\nX-Two: 1\r\nx-two: 2\r\nConnection: close\r\n" % CHAT.encode()
    exchange(upstream, head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    (call,) = upstream.calls
    assert (call.method, call.target, call.body) == ("POST", CHAT + "?a=1&a=%2F", body)
    assert call.headers[:3] == (("Host", "x"), ("X-Two", "1"), ("x-two", "2"))
    assert call.header("X-TWO") == ["1", "2"]
    assert (call.task, call.model, call.prompt) == ("draft", "m", "hi")


def test_large_and_chunked_request_bodies_are_whole(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """A body that comes in many reads, framed either way, is recorded in one piece."""
    body = bytes(range(256)) * 1000
    client.post("/v1/files", content=body)
    client.post("/v1/files", content=iter([body[:7], body[7:]]))
    assert [call.body for call in upstream.calls] == [body, body]


def test_pipelined_requests_are_answered_in_order(upstream: ScriptedUpstream) -> None:
    """Bytes that come ahead of an answer are the next request."""
    gate = Gate()
    upstream.play(Script(other=[Step(body=(b"first",)).held(gate), Step(body=(b"second",), framing="close")]))
    with dial(upstream) as connection:
        connection.sendall(b"GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
        upstream.wait_for(lambda: len(upstream.calls) == 1)
        connection.sendall(b"GET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
        gate.open()
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert received.index(b"first") < received.index(b"second")
    assert [call.target for call in upstream.calls] == ["/1", "/2"]


def test_wait_for_says_what_came_instead(upstream: ScriptedUpstream, client: httpx.Client) -> None:
    """A wait in vain fails and lists the calls."""
    client.get("/v1/models")
    with pytest.raises(AssertionError, match=r"calls so far: \['other'\]"):
        upstream.wait_for(lambda: False, timeout_s=0.01)


def test_malformed_request_is_told_at_the_end() -> None:
    """A client that does not speak HTTP is a fault, and comes out of the upstream."""
    with pytest.RaisesGroup(h11.RemoteProtocolError), ScriptedUpstream() as upstream:
        assert exchange(upstream, b"nonsense\r\n\r\n") == b""


def test_client_that_leaves_within_its_request_is_no_call(upstream: ScriptedUpstream) -> None:
    """Half a request is not recorded and does no harm."""
    with dial(upstream) as connection:
        connection.sendall(b"GET /1 HTTP/1.1\r\nHost: x\r\n")
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""
    assert upstream.calls == []
