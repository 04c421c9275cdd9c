"""Every error of ours, and the one table that turns it into an HTTP answer.

    CorrigendaError
    +-- SettingsInvalid         a setting that is unknown or cannot be used; stops the start
    +-- ModelFolderInvalid      the NLI model's folder is not one we may serve from
    +-- SelfTestFailed          the NLI model loads, but does not judge the sanity pairs right
    +-- EmbeddedUpstreamFailed  the offline model did not start
    +-- ExamplesInvalid         a file of labelled examples cannot be used
    +-- CalibrationFailed       no line can be drawn from the examples, or it cannot be written down
    +-- NliFailed               the NLI model gave no usable result
    |   +-- NliBusy             its queue is full
    +-- LlmCallFailed           one of our own calls to the model failed
    +-- HttpError               is answered with a status of its own, see `ANSWERS`
        +-- BadControl          an X-Verify-* header or `verify` key that cannot be used
        +-- BadPath             a path with `..`, `//` or an encoded slash
        +-- NotJson             the verifying route needs application/json
        +-- BodyTooLarge
        +-- MissingApiKey
        +-- WrongApiKey
        +-- PathNotAllowed      not one of the paths open to holders of the proxy's own keys
        +-- HostNotAllowed      a browser was led here under a foreign name (DNS rebinding)
        +-- TooManyRequests
        +-- UpstreamUnreachable
        +-- UpstreamSilent
        +-- UpstreamIncomplete  the upstream's reply ended early
        +-- VerifierFailed      verification failed and the operator wants that to be an error

A message says what to do and holds no prompt, key or answer text.
"""

from __future__ import annotations

from typing import Final


class CorrigendaError(Exception):
    """Root of the tree; `str(error)` is safe to show."""


class SettingsInvalid(CorrigendaError):
    """A setting is unknown or cannot be used."""


class ModelFolderInvalid(CorrigendaError):
    """The NLI model's folder is not one we may serve from."""


class SelfTestFailed(CorrigendaError):
    """The NLI model loads, but does not judge the sanity pairs right."""


class EmbeddedUpstreamFailed(CorrigendaError):
    """The offline model did not start."""


class ExamplesInvalid(CorrigendaError):
    """A file of labelled examples cannot be used; the message names the line."""


class CalibrationFailed(CorrigendaError):
    """No line can be drawn from the examples, or what was drawn cannot be written."""


class NliFailed(CorrigendaError):
    """The NLI model gave no usable result."""


class NliBusy(NliFailed):
    """The NLI queue is full."""


class LlmCallFailed(CorrigendaError):
    """One of our own calls to the model failed."""


class HttpError(CorrigendaError):
    """An error that a client is answered with; `param` names what it is about."""

    def __init__(self, message: str, *, param: str | None = None, retry_after_s: int | None = None) -> None:
        """Keep the message, what it is about and when to try again."""
        super().__init__(message)
        self.param = param
        self.retry_after_s = retry_after_s


class BadControl(HttpError):
    """A control header or a key of `verify` cannot be used."""


class BadPath(HttpError):
    """The path could mean another one upstream."""


class NotJson(HttpError):
    """The verifying route was sent something else than application/json."""


class BodyTooLarge(HttpError):
    """The body is over the cap."""


class MissingApiKey(HttpError):
    """No credentials came with the request, and the server's own may not be used for it."""


class WrongApiKey(HttpError):
    """The key is not one of the proxy's own."""


class PathNotAllowed(HttpError):
    """The path is not open to holders of the proxy's own keys."""


class HostNotAllowed(HttpError):
    """The `Host` is not one under which this proxy may be asked."""


class TooManyRequests(HttpError):
    """As many requests as allowed are already being verified."""


class UpstreamUnreachable(HttpError):
    """No connection to the upstream."""


class UpstreamSilent(HttpError):
    """The upstream sent nothing for as long as we wait."""


class UpstreamIncomplete(HttpError):
    """The upstream's reply ended before it was complete."""


class VerifierFailed(HttpError):
    """Verification failed, and the operator asked for an error in that case."""


ANSWERS: Final[dict[type[HttpError], tuple[int, str, str]]] = {
    BadControl: (400, "invalid_request_error", "invalid_control"),
    BadPath: (400, "invalid_request_error", "invalid_path"),
    NotJson: (415, "invalid_request_error", "unsupported_media_type"),
    BodyTooLarge: (413, "invalid_request_error", "body_too_large"),
    MissingApiKey: (401, "authentication_error", "missing_api_key"),
    WrongApiKey: (401, "authentication_error", "invalid_api_key"),
    PathNotAllowed: (403, "permission_error", "path_not_allowed"),
    HostNotAllowed: (421, "invalid_request_error", "host_not_allowed"),
    TooManyRequests: (429, "rate_limit_error", "too_many_requests"),
    UpstreamUnreachable: (502, "upstream_error", "upstream_unreachable"),
    UpstreamSilent: (504, "upstream_error", "upstream_timeout"),
    UpstreamIncomplete: (502, "upstream_error", "upstream_incomplete"),
    VerifierFailed: (503, "verifier_error", "verification_failed"),
}
"""HTTP status, `type` and `code` of each error that a client can be answered with."""


def error_body(message: str, kind: str, param: str | None, code: str) -> dict[str, object]:
    """Return the error object that OpenAI's API answers with."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}
