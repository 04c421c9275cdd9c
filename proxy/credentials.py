"""Who may ask, and on whose account the upstream is asked (contract, section 9).

In: a request's method, path and headers. Out: the header lines that the upstream gets, the right credentials among
them, or an error that names what is missing. One place decides, so that the server's own key cannot leave by
another way.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from proxy.errors import BadPath, HostNotAllowed, MissingApiKey, PathNotAllowed, WrongApiKey
from proxy.headers import RawHeaders, credentials_of, without_credentials
from proxy.settings import LOOPBACK_HOSTS, Settings

_OPEN_PATHS: Final = frozenset(
    f"/v1/{path}" for path in ("chat/completions", "completions", "embeddings", "moderations", "models", "responses")
)
_READ_PATHS: Final = re.compile(r"/v1/models(/[^/]+)?")
_ODD_PATH: Final = re.compile(rb"//|%2f|%5c|\\|(^|/)(\.|%2e){1,2}(/|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Gate:
    """Decides for each request under one set of settings."""

    settings: Settings

    def admit(self, method: str, raw_path: bytes, headers: RawHeaders) -> RawHeaders:
        """Return `headers` with the credentials that the upstream is to see.

        Raises:
            BadPath: the path could mean another one upstream.
            WrongApiKey: the proxy has keys of its own, and this is none of them.
            PathNotAllowed: the path is not open to holders of such a key.
            HostNotAllowed: the server's key would serve a page that reached loopback under a foreign name.
            MissingApiKey: no credentials, and the server's key is not lent beyond loopback.
        """
        if _ODD_PATH.search(raw_path):
            raise BadPath("The path holds `..`, `//` or an encoded slash; send the plain path.")
        if self.settings.api_keys:
            self._check_own_key(headers)
            _check_open(method, raw_path.decode("latin-1"))
            return [*without_credentials(headers), *self.server_credentials()]
        if credentials_of(headers) or self.settings.openai_api_key is None:
            return headers
        if not self.settings.on_loopback:
            raise MissingApiKey("No API key came with the request; send `Authorization: Bearer KEY`.")
        self._check_host(headers)
        return [*headers, *self.server_credentials()]

    def server_credentials(self) -> RawHeaders:
        """Return the header lines of the server's own key; none where it has none."""
        key = self.settings.openai_api_key
        return [] if key is None else [(b"authorization", b"Bearer " + key.get_secret_value().encode())]

    def _check_own_key(self, headers: RawHeaders) -> None:
        shown = [
            value.split(None, 1)[-1] if name.lower() == b"authorization" else value
            for name, value in headers
            if name.lower() in {b"authorization", b"api-key"} and value.strip()
        ]
        if not shown:
            raise WrongApiKey("This proxy needs one of its own keys; send `Authorization: Bearer KEY`.")
        # Every key is compared, so that the time taken tells nothing about which came near.
        matches = [hmac.compare_digest(one, own.encode()) for one in shown for own in self.settings.api_keys]
        if not any(matches):
            raise WrongApiKey("The key is none of this proxy's own; ask its operator for one.")

    def _check_host(self, headers: RawHeaders) -> None:
        hosts = [_without_port(value.decode("latin-1")) for name, value in headers if name.lower() == b"host"]
        allowed = LOOPBACK_HOSTS | {name.lower() for name in self.settings.allowed_hosts}
        if not allowed.issuperset(hosts):
            raise HostNotAllowed("This Host name may not use the server's key; add it to CORRIGENDA_ALLOWED_HOSTS.")


def _check_open(method: str, path: str) -> None:
    readable = method in {"GET", "HEAD"} and _READ_PATHS.fullmatch(path)
    if not readable and not (method == "POST" and path in _OPEN_PATHS):
        raise PathNotAllowed(f"{method} on this path is not open through this proxy; ask the upstream directly.")


def _without_port(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
