"""Which header lines cross the proxy, each way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.headers import RawHeaders, credentials_of, reply_headers, request_headers, without_credentials

PASSING: RawHeaders = [
    (b"Authorization", b"Bearer k"),
    (b"OpenAI-Organization", b"o"),
    (b"X-Request-Id", b"1"),
    (b"x-ratelimit-remaining-requests", b"0"),
    (b"Retry-After", b"7"),
    (b"retry-after-ms", b"7000"),
    (b"X-Vendor", b"a"),
    (b"x-vendor", b"\xe9"),
    (b"X-Verified-By", b"somebody else"),
    (b"Proxied", b"no hop-by-hop header"),
    (b"Accept", b"*/*"),
    (b"Location", b"https://else.where/"),
]
STOPPED: RawHeaders = [
    (b"Connection", b"keep-alive, X-Hop , x-other"),
    (b"Keep-Alive", b"timeout=5"),
    (b"X-HOP", b"1"),
    (b"X-Other", b"1"),
    (b"TE", b"trailers"),
    (b"Trailer", b"X-Sum"),
    (b"Upgrade", b"h2c"),
    (b"Transfer-Encoding", b"chunked"),
    (b"Proxy-Authorization", b"Basic a"),
    (b"PROXY-Connection", b"keep-alive"),
    (b"Cookie", b"a=1"),
    (b"Set-Cookie", b"a=1"),
    (b"Set-Cookie2", b"a=1"),
]
CONTROLS: RawHeaders = [(b"X-Verify", b"off"), (b"x-verify-k", b"1"), (b"X-Verify-Nope", b"?")]
OF_THE_BODY: RawHeaders = [(b"Content-Length", b"5"), (b"content-encoding", b"gzip")]


def interleave(*lists: RawHeaders) -> RawHeaders:
    """Return the lines of all lists, mixed."""
    together = [line for lines in lists for line in lines]
    return together[::2] + together[1::2]


def only(kept: RawHeaders, of: RawHeaders) -> RawHeaders:
    """Return the lines of `of` that are among `kept`, in their order."""
    return [line for line in of if line in kept]


def test_raw_request() -> None:
    """With verification off all passes, the body's own headers too, less hop-by-hop, cookies, host and controls."""
    lines = interleave(PASSING, STOPPED, CONTROLS, [(b"Host", b"proxy.test")], OF_THE_BODY)
    assert request_headers(lines, verifying=False) == only(PASSING + OF_THE_BODY, lines)


def test_verified_request() -> None:
    """When verifying, the length and encoding of the body that came are not those of the body that goes."""
    lines = interleave(PASSING, STOPPED, CONTROLS, [(b"Host", b"proxy.test")], OF_THE_BODY)
    assert request_headers(lines, verifying=True) == only(PASSING, lines)


def test_raw_reply() -> None:
    """A reply that is passed on keeps all its lines, repeated ones and the body's own, less hop-by-hop and cookies."""
    lines = interleave(PASSING, STOPPED, OF_THE_BODY)
    assert reply_headers(lines, rebuilt=False) == only(PASSING + OF_THE_BODY, lines)


def test_rebuilt_reply() -> None:
    """A rebuilt body has its own length and no encoding, and its verdict is ours, not one from further up."""
    lines = interleave(PASSING, STOPPED, OF_THE_BODY, CONTROLS)
    assert reply_headers(lines, rebuilt=True) == only(PASSING, lines)


@pytest.mark.parametrize(
    ("accepted", "offered"),
    [
        (b"br, gzip", b"gzip"),
        (b"gzip, deflate, br, zstd", b"gzip, deflate"),
        (b"deflate;q=0.5, GZIP;q=1.0", b"deflate;q=0.5, GZIP;q=1.0"),
        (b"gzip;q=0, br", b"gzip;q=0"),
        (b"br", b"identity"),
        (b"identity", b"identity"),
        (b"*", b"identity"),
        (b"", b"identity"),
    ],
)
def test_encodings_offered(accepted: bytes, offered: bytes) -> None:
    """The upstream may only use what both we and the client can decode: a refusal is passed on as it came."""
    lines = [(b"Accept-Encoding", accepted)]
    assert request_headers(lines, verifying=True) == [(b"Accept-Encoding", offered)]
    assert request_headers(lines, verifying=False) == lines


def test_no_encoding_offered_for_a_client_that_offers_none() -> None:
    """A client that says nothing about encodings gets none."""
    assert request_headers([(b"Accept", b"*/*")], verifying=True) == [(b"Accept", b"*/*")]


def test_credentials() -> None:
    """The lines that say who asks are known in any case, and all others are the rest."""
    who: RawHeaders = [
        (b"AUTHORIZATION", b"Bearer k"),
        (b"api-key", b"k"),
        (b"OpenAI-Organization", b"o"),
        (b"openai-project", b"p"),
    ]
    rest: RawHeaders = [(b"X-Api-Key-Hint", b"none"), (b"OpenAI-Beta", b"assistants=v2"), (b"Accept", b"*/*")]
    lines = interleave(who, rest)
    assert credentials_of(lines) == only(who, lines)
    assert without_credentials(lines) == only(rest, lines)


NAMES = st.sampled_from([name for name, _ in PASSING + STOPPED + CONTROLS + OF_THE_BODY] + [b"Host", b"X-Any"])
LINES = st.lists(st.tuples(NAMES, st.binary(max_size=8).map(lambda value: value.replace(b",", b""))))


@given(LINES, st.booleans())
def test_lines_are_dropped_but_never_changed(lines: RawHeaders, whole: bool) -> None:
    """What comes out is what went in, in its order, with some lines left out; a second pass leaves out no more."""
    for passed in (request_headers(lines, verifying=whole), reply_headers(lines, rebuilt=whole)):
        rest = iter(lines)
        assert all(line in rest for line in passed)
    passed = reply_headers(lines, rebuilt=whole)
    assert reply_headers(passed, rebuilt=whole) == passed


@given(LINES)
def test_credentials_and_the_rest_are_everything(lines: RawHeaders) -> None:
    """Every line is either one of the credentials or one of the rest."""
    assert sorted(credentials_of(lines) + without_credentials(lines)) == sorted(lines)
