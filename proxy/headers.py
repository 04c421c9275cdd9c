"""Which headers cross the proxy, each way (contract, sections 2 and 9).

In: raw header lists as they came. Out: raw header lists to send. Repeated headers stay repeated; order is kept.
Pure, and apart from `upstream` because the SDK's calls need the same rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

RawHeaders = list[tuple[bytes, bytes]]
"""Header lines in order; names in any case."""

HOP_BY_HOP: Final = frozenset({b"connection", b"te", b"trailer", b"upgrade", b"keep-alive", b"transfer-encoding"})
"""Headers for one connection only (RFC 9110, section 7.6.1), besides those that `Connection` names and `Proxy-*`."""
DECODABLE: Final = b"gzip, deflate"
"""The content encodings that a verified reply may come in."""

_CREDENTIALS: Final = frozenset({b"authorization", b"api-key", b"openai-organization", b"openai-project"})
_COOKIES: Final = frozenset({b"cookie", b"set-cookie", b"set-cookie2"})
_OF_THE_BODY: Final = frozenset({b"content-length", b"content-encoding"})


def request_headers(headers: Iterable[tuple[bytes, bytes]], *, verifying: bool) -> RawHeaders:
    """Return what the upstream is sent: less hop-by-hop, cookies, controls and `Host` (the upstream's own is set).

    When verifying, the body's length is recomputed and only encodings that we decode are offered.
    """
    kept = [
        (name, value)
        for name, value in _end_to_end(headers)
        if name.lower() != b"host" and not name.lower().startswith(b"x-verify")
    ]
    if not verifying:
        return kept
    return [
        (name, DECODABLE if name.lower() == b"accept-encoding" else value)
        for name, value in kept
        if name.lower() not in _OF_THE_BODY
    ]


def reply_headers(headers: Iterable[tuple[bytes, bytes]], *, rebuilt: bool) -> RawHeaders:
    """Return what the client is sent: less hop-by-hop and cookies, and less the body's own where it is rebuilt."""
    kept = _end_to_end(headers)
    return [line for line in kept if line[0].lower() not in _OF_THE_BODY] if rebuilt else kept


def credentials_of(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    """Return the header lines that say who asks."""
    return [(name, value) for name, value in headers if name.lower() in _CREDENTIALS]


def without_credentials(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    """Return all other header lines."""
    return [(name, value) for name, value in headers if name.lower() not in _CREDENTIALS]


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    lines = list(headers)
    named = {
        token.strip().lower() for name, value in lines if name.lower() == b"connection" for token in value.split(b",")
    }
    dropped = HOP_BY_HOP | _COOKIES | named
    return [
        (name, value) for name, value in lines if name.lower() not in dropped and not name.lower().startswith(b"proxy-")
    ]
