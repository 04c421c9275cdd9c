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
DECODABLE: Final = frozenset({b"gzip", b"deflate"})
"""The content encodings that a verified reply may come in."""

_CREDENTIALS: Final = frozenset({b"authorization", b"api-key", b"openai-organization", b"openai-project"})
_COOKIES: Final = frozenset({b"cookie", b"set-cookie", b"set-cookie2"})
_OF_THE_BODY: Final = frozenset({b"content-length", b"content-encoding"})


def request_headers(headers: Iterable[tuple[bytes, bytes]], *, verifying: bool) -> RawHeaders:
    """Return what the upstream is sent: less hop-by-hop, cookies, controls and `Host` (the upstream's own is set).

    When verifying, the body's length is recomputed, and of the encodings that the client takes only those that we
    decode are offered: a refusal is passed on as it came, and the client has to be able to read it.
    """
    kept = [(name, value) for name, value in _end_to_end(headers) if name.lower() != b"host" and not _is_control(name)]
    if not verifying:
        return kept
    return [
        (name, _offer(value) if name.lower() == b"accept-encoding" else value)
        for name, value in kept
        if name.lower() not in _OF_THE_BODY
    ]


def reply_headers(headers: Iterable[tuple[bytes, bytes]], *, rebuilt: bool) -> RawHeaders:
    """Return what the client is sent: less hop-by-hop and cookies.

    Where the body is rebuilt, its headers are left out, and so are an upstream's own `X-Verify-*` for ours.
    """
    kept = _end_to_end(headers)
    if not rebuilt:
        return kept
    return [(name, value) for name, value in kept if name.lower() not in _OF_THE_BODY and not _is_control(name)]


def credentials_of(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    """Return the header lines that say who asks."""
    return [(name, value) for name, value in headers if name.lower() in _CREDENTIALS]


def without_credentials(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    """Return all other header lines."""
    return [(name, value) for name, value in headers if name.lower() not in _CREDENTIALS]


def _is_control(name: bytes) -> bool:
    return name.lower() == b"x-verify" or name.lower().startswith(b"x-verify-")


def _offer(accepted: bytes) -> bytes:
    codings = [coding.strip() for coding in accepted.split(b",")]
    return b", ".join(c for c in codings if c.partition(b";")[0].strip().lower() in DECODABLE) or b"identity"


def _end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    lines = list(headers)
    named = {
        token.strip().lower() for name, value in lines if name.lower() == b"connection" for token in value.split(b",")
    }
    dropped = HOP_BY_HOP | _COOKIES | named
    return [
        (name, value) for name, value in lines if name.lower() not in dropped and not name.lower().startswith(b"proxy-")
    ]
