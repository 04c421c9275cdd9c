"""Who may ask, and which credentials the upstream sees (contract, section 9)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.credentials import Gate
from proxy.errors import BadPath, HostNotAllowed, HttpError, MissingApiKey, PathNotAllowed, WrongApiKey
from proxy.headers import RawHeaders
from proxy.settings import Settings

CHAT = b"/v1/chat/completions"
SERVER_KEY = "sk-server"
SERVER: RawHeaders = [(b"authorization", b"Bearer sk-server")]
CLIENT: RawHeaders = [(b"Authorization", b"Bearer sk-client")]
LOCAL: RawHeaders = [(b"host", b"localhost:8080"), (b"accept", b"*/*")]
OWN: RawHeaders = [(b"authorization", b"Bearer own-1")]


def gate(**settings: Any) -> Gate:  # noqa: ANN401  # whatever settings take
    """Return the gate under these settings."""
    return Gate(Settings(**settings))


def lending(**settings: Any) -> Gate:  # noqa: ANN401  # whatever settings take
    """Return a gate with a key of the server's, which listens on loopback unless told otherwise."""
    return gate(OPENAI_API_KEY=SERVER_KEY, **settings)


def owning(*keys: str) -> Gate:
    """Return a gate with keys of its own."""
    return lending(api_keys=keys or ("own-1", "own-2"))


class TestClientsOwnCredentials:
    """Without keys of the proxy's own, the client's credentials are the ones that count."""

    @pytest.mark.parametrize(
        "credentials",
        [
            CLIENT,
            [(b"api-key", b"azure")],
            [(b"OpenAI-Organization", b"org")],
            [(b"openai-project", b"proj"), (b"Authorization", b"Bearer k")],
            [(b"authorization", b"Bearer wrong")],
        ],
    )
    @pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
    def test_go_unchanged(self, credentials: RawHeaders, host: str) -> None:
        """A request that brings credentials keeps them as they are, wherever we listen and whatever key we have."""
        headers = [(b"host", b"evil.test"), *credentials]
        assert lending(listen_host=host).admit("POST", CHAT, headers) == headers
        assert gate(listen_host=host).admit("POST", CHAT, headers) == headers

    @pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
    def test_none_and_no_key_to_lend(self, host: str) -> None:
        """Without any key the request goes on as it is: the upstream refuses it, or needs none."""
        assert gate(listen_host=host).admit("POST", CHAT, LOCAL) == LOCAL

    @pytest.mark.parametrize("path", [b"/v1/files", b"/v1/organization/users", b"/v1/anything/at/all"])
    def test_every_path_is_open(self, path: bytes) -> None:
        """Who pays for themselves may ask for anything."""
        assert lending().admit("DELETE", path, CLIENT) == CLIENT


class TestLentKey:
    """`OPENAI_API_KEY` serves a request without credentials, on loopback only."""

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]"])
    def test_on_loopback(self, host: str) -> None:
        """The server's key is added to what came."""
        assert lending(listen_host=host).admit("POST", CHAT, LOCAL) == LOCAL + SERVER

    @pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "proxy.test"])
    def test_beyond_loopback(self, host: str) -> None:
        """Whoever reaches an open port gets nothing on the operator's account."""
        with pytest.raises(MissingApiKey):
            lending(listen_host=host).admit("POST", CHAT, LOCAL)

    @pytest.mark.parametrize(
        "host", ["localhost", "LOCALHOST", "127.0.0.1", "[::1]", "localhost:8080", "127.0.0.1:1", "[::1]:8080"]
    )
    def test_host_of_this_machine(self, host: str) -> None:
        """Every name of loopback is right, with any port."""
        headers = [(b"Host", host.encode())]
        assert lending().admit("POST", CHAT, headers) == headers + SERVER

    @pytest.mark.parametrize(
        "host",
        ["evil.test", "evil.test:8080", "localhost.evil.test", "127.0.0.1.evil.test", "[::2]", "[", "", "0.0.0.0"],
    )
    def test_foreign_host(self, host: str) -> None:
        """A page that was led to loopback under its own name (DNS rebinding) does not get the key."""
        with pytest.raises(HostNotAllowed):
            lending().admit("POST", CHAT, [(b"host", host.encode())])

    def test_one_foreign_host_of_two(self) -> None:
        """A right name does not make up for a wrong one."""
        with pytest.raises(HostNotAllowed):
            lending().admit("POST", CHAT, [(b"host", b"localhost"), (b"host", b"evil.test")])

    def test_allowed_host(self) -> None:
        """The operator may add names, in any case."""
        allowing = lending(allowed_hosts=("Proxy.Test",))
        headers = [(b"host", b"proxy.test:8080")]
        assert allowing.admit("POST", CHAT, headers) == headers + SERVER
        with pytest.raises(HostNotAllowed):
            allowing.admit("POST", CHAT, [(b"host", b"other.test")])

    def test_host_matters_only_where_the_key_is_lent(self) -> None:
        """A request that is not served on the server's account may come under any name."""
        foreign = [(b"host", b"evil.test")]
        assert lending().admit("POST", CHAT, foreign + CLIENT) == foreign + CLIENT
        assert gate().admit("POST", CHAT, foreign) == foreign
        assert owning().admit("POST", CHAT, foreign + OWN) == foreign + SERVER


class TestOwnKeys:
    """With keys of its own, the proxy pays and decides who may ask for what."""

    @pytest.mark.parametrize(
        "shown",
        [
            (b"Authorization", b"Bearer own-1"),
            (b"authorization", b"bearer own-2"),
            (b"api-key", b"own-1"),
            (b"API-KEY", b"own-2"),
        ],
    )
    def test_right_key(self, shown: tuple[bytes, bytes]) -> None:
        """Any of the keys opens, however it is shown, and the server's own goes on in its place."""
        assert owning().admit("POST", CHAT, [*LOCAL, shown]) == LOCAL + SERVER

    @pytest.mark.parametrize(
        "shown",
        [
            [],
            [(b"authorization", b"")],
            [(b"authorization", b"Bearer")],
            [(b"authorization", b"Bearer own")],
            [(b"authorization", b"Bearer own-12")],
            [(b"authorization", b"Bearer OWN-1")],
            [(b"authorization", b"Bearer own-1,own-2")],
            [(b"authorization", b"Bearer sk-server")],
            [(b"authorization", b"Bearer \xff\xfe")],
            [(b"api-key", b"own-3")],
            [(b"x-api-key", b"own-1")],
            [(b"cookie", b"own-1")],
        ],
    )
    @pytest.mark.parametrize("path", [CHAT, b"/v1/models", b"/v1/files"])
    def test_wrong_key(self, shown: RawHeaders, path: bytes) -> None:
        """No key or a wrong one is refused on every path, before anything about the path is told."""
        with pytest.raises(WrongApiKey):
            owning().admit("GET" if path == b"/v1/models" else "POST", path, LOCAL + shown)

    def test_client_s_own_account_is_left_out(self) -> None:
        """Organisation, project and a second key of the client's never reach the upstream beside the server's."""
        who = [(b"OpenAI-Organization", b"o"), (b"openai-project", b"p"), (b"api-key", b"sk-client")]
        assert owning().admit("POST", CHAT, [*OWN, *who, *LOCAL]) == LOCAL + SERVER

    def test_no_key_of_the_server_s(self) -> None:
        """Without a server key nothing goes in place of the client's: an upstream that needs none is served so."""
        assert gate(api_keys=("own-1",)).admit("POST", CHAT, [*OWN, *LOCAL]) == LOCAL

    def test_beyond_loopback(self) -> None:
        """Keys of its own are what opens a proxy to the network."""
        open_gate = lending(api_keys=("own-1",), listen_host="0.0.0.0")
        assert open_gate.admit("POST", CHAT, OWN) == SERVER

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("POST", "chat/completions"),
            ("POST", "completions"),
            ("POST", "embeddings"),
            ("POST", "moderations"),
            ("POST", "responses"),
            ("GET", "models"),
            ("HEAD", "models"),
            ("GET", "models/gpt-test"),
        ],
    )
    def test_open_path(self, method: str, path: str) -> None:
        """These are what holders of the proxy's keys may ask for."""
        assert owning().admit(method, f"/v1/{path}".encode(), OWN) == SERVER

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("GET", "files"),
            ("GET", "organization/users"),
            ("GET", "chat/completions"),
            ("DELETE", "chat/completions"),
            ("GET", "chat/completions/chatcmpl-1"),
            ("POST", "chat/completions/chatcmpl-1"),
            ("POST", "chat/completions/"),
            ("GET", "responses/resp_1"),
            ("DELETE", "responses/resp_1"),
            ("POST", "responses/resp_1/cancel"),
            ("DELETE", "models/ft:mine"),
            ("GET", "models/a/b"),
            ("POST", "fine_tuning/jobs"),
            ("POST", "images/generations"),
            ("POST", "CHAT/completions"),
            ("OPTIONS", "models"),
            ("GET", ""),
        ],
    )
    def test_closed_path(self, method: str, path: str) -> None:
        """What holds other people's data or the account's settings is closed to them."""
        with pytest.raises(PathNotAllowed):
            owning().admit(method, f"/v1/{path}".encode(), OWN)


@pytest.mark.parametrize(
    "path",
    [
        b"/v1/chat/completions/../files",
        b"/v1/chat/completions/..",
        b"/v1/../admin",
        b"/v1/./files",
        b"/v1/models/.",
        b"/v1//files",
        b"//v1/files",
        b"/v1/chat/completions/%2e%2e/files",
        b"/v1/chat/completions/%2E./files",
        b"/v1/chat/completions/.%2e/files",
        b"/v1/chat/completions/%2E%2E",
        b"/v1/chat%2Fcompletions",
        b"/v1/models/a%2fb",
        b"/v1/models/..%5cfiles",
        b"/v1/models\\files",
    ],
)
@pytest.mark.parametrize("headers", [CLIENT, OWN, LOCAL])
def test_path_that_could_mean_another(path: bytes, headers: RawHeaders) -> None:
    """What an upstream could read as another path than we do is refused, whoever asks."""
    for decides in (gate(), lending(), owning()):
        with pytest.raises(BadPath):
            decides.admit("POST", path, headers)


@pytest.mark.parametrize(
    "path", [b"/v1/models/gpt-4.1", b"/v1/files/..a", b"/v1/a..b/c", b"/v1/files/a%20b", b"/v1/models/", b"/v1/.well"]
)
def test_plain_path(path: bytes) -> None:
    """Dots within a name, blanks and a trailing slash are plain enough."""
    assert gate().admit("GET", path, CLIENT) == CLIENT


PATHS = st.lists(
    st.sampled_from(["v1", "chat", "completions", "files", "..", ".", "%2e", "%2F", "models", "", "x"]), max_size=6
).map(lambda parts: ("/" + "/".join(parts)).encode())
SHOWN = st.lists(
    st.sampled_from([*OWN, *CLIENT, (b"api-key", b"own-2"), (b"openai-project", b"p"), (b"host", b"evil.test")])
)


@given(st.sampled_from(["GET", "POST", "DELETE"]), PATHS, SHOWN)
def test_server_key_goes_only_with_a_key_of_ours(method: str, path: bytes, headers: RawHeaders) -> None:
    """Whatever is asked, the server's key leaves only for a right key, alone, and on an open path."""
    try:
        sent = owning().admit(method, path, headers)
    except HttpError:
        return
    assert any(value.endswith((b"own-1", b"own-2")) for _, value in headers)
    assert [line for line in sent if line[0].lower() != b"host"] == SERVER
    assert (method, path) in {("POST", CHAT), ("POST", b"/v1/completions")} or path.startswith(b"/v1/models")
