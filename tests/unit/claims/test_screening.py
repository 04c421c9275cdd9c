"""Which sentences go on to be split into claims, and which cannot be judged as they stand."""

from __future__ import annotations

import pytest

from proxy.claims.claim import Sentence
from proxy.claims.screening import is_closed, screen_sentence
from proxy.claims.segment import split_sentences

ENGLISH = frozenset({"en"})


def screen(text: str, *, cut: bool = False) -> list[tuple[str, str | None]]:
    """Return the sentences that state something, and why they cannot be judged; `cut` is the last one's."""
    sentences = split_sentences(text)
    screened = [screen_sentence(s, cut=cut and s is sentences[-1], languages=ENGLISH) for s in sentences]
    return [(s.text, s.unverifiable) for s in screened if s is not None]


def test_plain_statements_pass() -> None:
    """A draft of statements goes on as it is."""
    assert screen("Verdane Bridge opened in 1913. It is 340 metres long.") == [
        ("Verdane Bridge opened in 1913.", None),
        ("It is 340 metres long.", None),
    ]


def test_what_is_plainly_no_claim_is_left_out() -> None:
    """Greetings, questions and offers state nothing."""
    text = "Sure! Verdane Bridge opened in 1913. Which colour? Let me know if you need more."
    assert screen(text) == [("Verdane Bridge opened in 1913.", None)]


@pytest.mark.parametrize(
    "text", ["As an AI I can't help with that.", "Hi!", "Which colour?", "", "  \n", "🙂"], ids=repr
)
def test_nothing_to_verify(text: str) -> None:
    """Of such answers nothing is left (C26)."""
    assert screen(text) == []


def test_an_unfinished_last_sentence() -> None:
    """Where the draft was cut, a last sentence without closing punctuation is truncated, and only that."""
    text = "- Verdane Bridge\n\nIt opened in 1913. It is 340 metres"
    assert screen(text, cut=True)[-2:] == [("It opened in 1913.", None), ("It is 340 metres", "truncated")]
    assert screen(text)[-1] == ("It is 340 metres", None)
    assert screen("It opened in 1913. It is 340 metres long.", cut=True)[-1][1] is None
    assert screen("Verdane Bridge opened in 1913. I find", cut=True)[-1] == ("I find", "truncated")
    assert screen("", cut=True) == []


def test_a_sentence_in_an_unlisted_script() -> None:
    """A sentence that the NLI model cannot read stands, with the reason (contract, section 6)."""
    text = "The bridge is called 베르다네 in Korean. 다리는 1913년에 개통되었다."
    assert screen(text) == [
        ("The bridge is called 베르다네 in Korean.", None),
        ("다리는 1913년에 개통되었다.", "language"),
    ]


def test_reasons_given_before_are_kept() -> None:
    """What could not be segmented stands whole, whatever it says."""
    sentence = Sentence(0, (0, 3), "Hi!", unverifiable="unsplit")
    assert screen_sentence(sentence, cut=False, languages=ENGLISH) == sentence


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("It opened in 1913.", True),
        ("It opened in 1913!", True),
        ("**It opened in 1913.**", True),
        ('He said: "It opened in 1913."', True),
        ("(It opened in 1913.)", True),
        ("It opened in 1913.[2]", True),
        ("It opened in 1913…", True),
        ("橋は1913年に開通した。", True),
        ("橋は1913年に開通した。」", True),
        ("پل در ۱۹۱۳ باز شد۔", True),
        ("यह पुल 1913 में खुला।", True),
        ("It opened in 1913", False),
        ("It opened in 19", False),
        ("It opened, in 1913,", False),
        ("It cost 2.5", False),
        ("Opened:", False),
        ("", False),
    ],
)
def test_closing_punctuation(text: str, *, closed: bool) -> None:
    """A full stop of any script closes a sentence, marks and citations after it aside."""
    assert is_closed(text) is closed
