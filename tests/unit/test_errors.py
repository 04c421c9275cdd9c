"""The error tree, and what each error is answered with."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from proxy import errors
from proxy.errors import ANSWERS, CorrigendaError, HttpError, NliBusy, NliFailed, error_body


def subclasses(kind: type[Exception]) -> Iterator[type[Exception]]:
    """Yield all classes below one, at any depth."""
    for below in kind.__subclasses__():
        yield below
        yield from subclasses(below)


def test_tree_in_the_docstring_is_the_real_one() -> None:
    """The tree that a reader sees at the top of the file has the names and the nesting of the classes."""
    assert errors.__doc__ is not None
    drawn: dict[str, str] = {}
    above = {0: "CorrigendaError"}
    for branch, name in re.findall(r"^([ |]*)\+-- (\w+)", errors.__doc__, re.MULTILINE):
        depth = len(branch) // 4
        drawn[name] = above[depth - 1]
        above[depth] = name
    assert drawn == {kind.__name__: kind.__bases__[0].__name__ for kind in subclasses(CorrigendaError)}


def test_every_http_error_has_an_answer() -> None:
    """No error that a client can be answered with is without its line in the table, and no line is left over."""
    assert set(ANSWERS) == set(subclasses(HttpError))


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("BadControl", 400, None),
        ("BadPath", 400, None),
        ("NotJson", 415, None),
        ("BodyTooLarge", 413, None),
        ("MissingApiKey", 401, "missing_api_key"),
        ("WrongApiKey", 401, None),
        ("PathNotAllowed", 403, None),
        ("HostNotAllowed", 421, None),
        ("TooManyRequests", 429, None),
        ("UpstreamUnreachable", 502, None),
        ("UpstreamSilent", 504, None),
        ("UpstreamIncomplete", 502, "upstream_incomplete"),
        ("VerifierFailed", 503, None),
    ],
)
def test_status_and_code(name: str, status: int, code: str | None) -> None:
    """Each error has the HTTP status of the contract's failure table, and the code where that names one."""
    answered, kind, has_code = ANSWERS[getattr(errors, name)]
    assert answered == status
    assert has_code == (code or has_code)
    assert kind


def test_codes_tell_errors_apart() -> None:
    """A client can tell every error of ours from the others by its code alone."""
    codes = [code for _, _, code in ANSWERS.values()]
    assert len(set(codes)) == len(codes)


def test_body_is_openai_s() -> None:
    """The error object has the four members that OpenAI's SDKs read, null included."""
    body = error_body("Send it once.", "invalid_request_error", None, "invalid_control")
    wanted = {"message": "Send it once.", "type": "invalid_request_error", "param": None, "code": "invalid_control"}
    assert body == {"error": wanted}


def test_http_error_says_what_it_is_about() -> None:
    """An error carries its message, the parameter it is about and when to try again; the last two may be missing."""
    told = errors.TooManyRequests("Try again.", param="X-Verify-K", retry_after_s=1)
    assert (str(told), told.param, told.retry_after_s) == ("Try again.", "X-Verify-K", 1)
    assert (errors.BadPath("No.").param, errors.BadPath("No.").retry_after_s) == (None, None)


def test_full_queue_is_a_failure_of_the_model_too() -> None:
    """Who handles a failed NLI model also handles its full queue, and may tell it apart first."""
    assert issubclass(NliBusy, NliFailed)
