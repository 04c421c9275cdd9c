"""What a caller may choose, by header and by body, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.controls import HEADERS, MOST_CONTEXT_CHARACTERS, MOST_CONTEXT_TEXTS, Controls, read_controls
from proxy.errors import BadControl

DEFAULTS = Controls()


def read(*headers: tuple[str, str], verify: object = None, defaults: Controls = DEFAULTS) -> Controls:
    """Read header lines and a `verify` member."""
    return read_controls(headers, verify, defaults)


def refuse(*headers: tuple[str, str], verify: object = None) -> BadControl:
    """Return the error that these are refused with."""
    with pytest.raises(BadControl) as caught:
        read(*headers, verify=verify)
    return caught.value


def test_defaults() -> None:
    """Without any control the defaults of the contract hold."""
    assert read().model_dump() == {
        "mode": "correct",
        "k": 0.7,
        "rule": "bounded",
        "claims": "llm",
        "stream": "buffer",
        "timeout_ms": 30_000,
        "detail": "summary",
        "context": (),
        "reference": "recall",
    }


@pytest.mark.parametrize(
    ("spelled", "mode"),
    [
        *[(value, "correct") for value in ("correct", "CORRECT", "true", "True", "on", "ON", "1", " true ")],
        *[(value, "detect") for value in ("detect", "Detect")],
        *[(value, "off") for value in ("off", "OFF", "false", "FALSE", "0", "no", "No", "", "  ")],
    ],
)
def test_mode_header(spelled: str, mode: str) -> None:
    """The mode has synonyms, in any case, and an empty header is off."""
    assert read(("x-verify", spelled)).mode == mode


@pytest.mark.parametrize("spelled", ["yes", "2", "corrected", "null", "-", "of f"])
def test_unknown_mode_header(spelled: str) -> None:
    """What is no mode is refused rather than taken for true."""
    assert refuse(("x-verify", spelled)).param == "X-Verify"


@pytest.mark.parametrize(
    ("header", "value", "key", "wanted"),
    [
        ("x-verify-k", "0", "k", 0.0),
        ("x-verify-k", "3.5", "k", 3.5),
        ("x-verify-k", "5", "k", 5.0),
        ("x-verify-k", "1e-1", "k", 0.1),
        ("x-verify-rule", "bounded", "rule", "bounded"),
        ("x-verify-rule", "paper", "rule", "paper"),
        ("x-verify-rule", "fixed", "rule", "fixed"),
        ("x-verify-claims", "llm", "claims", "llm"),
        ("x-verify-claims", "local", "claims", "local"),
        ("x-verify-stream", "buffer", "stream", "buffer"),
        ("x-verify-stream", "annotate", "stream", "annotate"),
        ("x-verify-timeout-ms", "1", "timeout_ms", 1),
        ("x-verify-timeout-ms", "600000", "timeout_ms", 600_000),
        ("x-verify-detail", "summary", "detail", "summary"),
        ("x-verify-detail", "full", "detail", "full"),
    ],
)
def test_header(header: str, value: str, key: str, wanted: object) -> None:
    """Every header sets its key and nothing else, over its whole range."""
    assert read((header, value)) == DEFAULTS.model_copy(update={key: wanted})


@pytest.mark.parametrize(
    ("header", "value", "param"),
    [
        *[
            ("x-verify-k", value, "X-Verify-K")
            for value in ("-1", "abc", "99999", "5.0001", "-0.1", "", "nan", "inf", "-inf", "1e400", "0x1", "true")
        ],
        *[
            ("x-verify-timeout-ms", value, "X-Verify-Timeout-Ms")
            for value in ("0", "-1", "600001", "1.5", "1s", "", "nan", "true")
        ],
        *[("x-verify-rule", value, "X-Verify-Rule") for value in ("bound", "", "none", "bounded paper")],
        ("x-verify-claims", "nli", "X-Verify-Claims"),
        ("x-verify-stream", "true", "X-Verify-Stream"),
        ("x-verify-detail", "all", "X-Verify-Detail"),
        ("x-verify-mode", "correct", "X-Verify-Mode"),
        ("x-verify-timeout", "1", "X-Verify-Timeout"),
        ("x-verify-", "1", "X-Verify-"),
    ],
)
def test_refused_header(header: str, value: str, param: str) -> None:
    """What is out of range, no value at all or an unknown header is refused by the header's name."""
    assert refuse((header, value)).param == param


@pytest.mark.parametrize("name", ["x-verified", "x-verifier-id", "verify", "x-request-id"])
def test_header_of_somebody_else(name: str) -> None:
    """Headers that merely look alike are none of ours."""
    assert read((name, "anything, at all")) == DEFAULTS


@pytest.mark.parametrize(
    "headers",
    [
        [("x-verify-k", "1"), ("x-verify-k", "1")],
        [("x-verify-k", "1, 1")],
        [("x-verify", "off,off")],
        [("x-verify", "off"), ("x-verify-k", "1"), ("x-verify", "correct")],
    ],
)
def test_header_sent_twice(headers: list[tuple[str, str]]) -> None:
    """A repeated header is refused, whether as two lines or joined by a comma on the way."""
    assert refuse(*headers).param in {"X-Verify", "X-Verify-K"}


@pytest.mark.parametrize(
    ("verify", "changed"),
    [
        (None, {}),
        ({}, {}),
        (False, {"mode": "off"}),
        ({"mode": "detect"}, {"mode": "detect"}),
        ({"mode": False}, {"mode": "off"}),
        ({"mode": True}, {"mode": "correct"}),
        ({"mode": "OFF"}, {"mode": "off"}),
        ({"k": 2}, {"k": 2.0}),
        ({"k": 0, "rule": "paper"}, {"k": 0.0, "rule": "paper"}),
        ({"claims": "local", "stream": "annotate", "detail": "full"}, None),
        ({"timeout_ms": 600_000}, {"timeout_ms": 600_000}),
        ({"context": ["A.", "B."]}, {"context": ("A.", "B.")}),
        ({"context": ["x" * MOST_CONTEXT_CHARACTERS]}, {"context": ("x" * MOST_CONTEXT_CHARACTERS,)}),
        ({"context": ["A."] * MOST_CONTEXT_TEXTS}, {"context": ("A.",) * MOST_CONTEXT_TEXTS}),
        ({"reference": "recall"}, {}),
        ({"reference": "context", "context": ["A."]}, {"reference": "context", "context": ("A.",)}),
    ],
)
def test_body(verify: object, changed: dict[str, Any] | None) -> None:
    """The keys of the body object do what the headers do; `false` is off."""
    wanted = verify if changed is None else changed
    assert isinstance(wanted, dict)
    assert read(verify=verify) == DEFAULTS.model_copy(update=wanted)


@pytest.mark.parametrize(
    ("verify", "param"),
    [
        ({"k": "0.7"}, "verify.k"),
        ({"k": True}, "verify.k"),
        ({"k": None}, "verify.k"),
        ({"k": -1}, "verify.k"),
        ({"k": 10**400}, "verify.k"),
        ({"k": [1]}, "verify.k"),
        ({"mode": 1}, "verify.mode"),
        ({"mode": 0}, "verify.mode"),
        ({"mode": None}, "verify.mode"),
        ({"mode": "maybe"}, "verify.mode"),
        ({"mode": {}}, "verify.mode"),
        ({"rule": 1}, "verify.rule"),
        ({"claims": None}, "verify.claims"),
        ({"timeout_ms": 0}, "verify.timeout_ms"),
        ({"timeout_ms": 1.5}, "verify.timeout_ms"),
        ({"timeout_ms": "1"}, "verify.timeout_ms"),
        ({"timeout_ms": True}, "verify.timeout_ms"),
        ({"detail": False}, "verify.detail"),
        ({"threshold": 1}, "verify.threshold"),
        ({"K": 1}, "verify.K"),
        *[({"context": value}, "verify.context") for value in (None, "A.", [], [1], [None], [["A."]], {"A.": 1}, True)],
        *[({"context": ["A.", value]}, "verify.context") for value in ("", " \n")],
        ({"context": ["x", "x" * MOST_CONTEXT_CHARACTERS]}, "verify.context"),
        ({"context": ["A."] * (MOST_CONTEXT_TEXTS + 1)}, "verify.context"),
        *[
            ({"reference": value, "context": ["A."]}, "verify.reference")
            for value in (None, "", "both", True, ["context"])
        ],
        ({"reference": "context"}, "verify.reference"),
        ({"reference": "context", "mode": "off"}, "verify.reference"),
        ({"X-Verify-K": 1}, "verify.X-Verify-K"),
        (1, "verify"),
        ("off", "verify"),
        ([], "verify"),
        ([{"k": 1}], "verify"),
    ],
)
def test_refused_body(verify: object, param: str) -> None:
    """A wrong type, a value out of range and an unknown key are refused by the key's name."""
    assert refuse(verify=verify).param == param


def test_a_text_is_shown_nowhere() -> None:
    """Controls do not show the user's documents where they are printed, nor does a refusal."""
    assert "CANARY" not in repr(read(verify={"context": ["CANARY"]}))
    assert "CANARY" not in str(refuse(verify={"context": ["CANARY", 1]}))


def test_header_beats_body() -> None:
    """Where header and body disagree on a key, the header wins; the body's other keys stand."""
    controls = read(("x-verify", "detect"), ("x-verify-k", "1"), verify={"mode": "off", "k": 2, "rule": "paper"})
    assert (controls.mode, controls.k, controls.rule) == ("detect", 1.0, "paper")


def test_request_beats_defaults() -> None:
    """The operator's defaults hold for what the request leaves open, and a default can be asked for again."""
    defaults = Controls(mode="off", k=2, rule="paper", timeout_ms=5)
    controls = read(("x-verify-k", "0.7"), verify={"mode": "correct"}, defaults=defaults)
    assert (controls.mode, controls.k, controls.rule, controls.timeout_ms) == ("correct", 0.7, "paper", 5)


@pytest.mark.parametrize(
    ("headers", "verify", "param"),
    [
        ([("x-verify", "off"), ("x-verify-k", "-1")], None, "X-Verify-K"),
        ([("x-verify", "off"), ("x-verify-nope", "1")], None, "X-Verify-Nope"),
        ([("x-verify", "off")], {"k": -1}, "verify.k"),
        ([], {"mode": "off", "nope": 1}, "verify.nope"),
        ([("x-verify-k", "1")], {"k": -1}, "verify.k"),
    ],
)
def test_checked_even_with_off(headers: list[tuple[str, str]], verify: object, param: str) -> None:
    """A mistake is told even where verification is off or another control would win."""
    assert refuse(*headers, verify=verify).param == param


@given(st.sampled_from(sorted(HEADERS)), st.text(min_size=4, max_size=30).filter(lambda text: text.strip()))
def test_refusal_does_not_repeat_the_value(header: str, value: str) -> None:
    """A message names header and range, never what was sent: it may have been put into the wrong header."""
    assert f"sk-{value}" not in str(refuse((header, f"sk-{value}")))


@given(st.floats(min_value=0, max_value=5))
def test_k_is_read_exactly(k: float) -> None:
    """A k within its range is the same number by header and by body."""
    assert read(("x-verify-k", repr(k))).k == k == read(verify={"k": k}).k


@given(st.floats().filter(lambda k: not 0 <= k <= 5))
def test_k_out_of_range(k: float) -> None:
    """No other float is a k."""
    assert refuse(("x-verify-k", repr(k))).param == "X-Verify-K"
    assert refuse(verify={"k": k}).param == "verify.k"
