"""Marks taken off a text, and whether it holds words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.claims.markdown import has_words, plain_text

PLAIN = [
    ("**It** opened in *1913*.", "It opened in 1913."),
    ("__It__ _opened_ ~~once~~.", "It opened once."),
    ("***It opened.***", "It opened."),
    ("snake_case and 3 * 4 * 5 or 3*4", "snake_case and 3 * 4 * 5 or 3*4"),
    ("It `opened` in ``1913``.", "It opened in 1913."),
    ('See [the bridge](https://ex.test/a_b "A title") ![map](a.png) now.', "See the bridge now."),
    ("It opened [2] in 1913[1, 3][^note] [citation needed].", "It opened in 1913."),
    ("Holt et al. [2004] wrote it.", "Holt et al. [2004] wrote it."),
    ("- It opened", "It opened"),
    ("> 1. It opened\n> in 1913", "It opened in 1913"),
    ("### It opened", "It opened"),
    ("- [x] It opened", "It opened"),
    ("<b>It</b> opened<br>in 1913 &amp; later", "It opened in 1913 & later"),
    (r"It cost \$5 \* 3", "It cost $5 * 3"),
    ("3 < 4 and 5 > 2", "3 < 4 and 5 > 2"),
    ("It\n  opened\u00a0here", "It opened here"),
    ("1913 was dry.", "1913 was dry."),
    ("-5 °C", "-5 °C"),
]


@pytest.mark.parametrize(("text", "plain"), PLAIN)
def test_marks_are_taken_off(text: str, plain: str) -> None:
    """A text is read as Markdown shows it, white space joined."""
    assert plain_text(text) == plain


@settings(deadline=None)
@given(text=st.text())
def test_plain_text_has_single_blanks(text: str) -> None:
    """Any text is taken, and no white space is left but single blanks within."""
    plain = plain_text(text)
    assert plain == " ".join(plain.split())


@pytest.mark.parametrize(
    "text", ["`a.b?c`", "``a ` b``", "$|x|=1.5.$", "$$ x", "\\(a\\)", "\\[ a", "![map](a.png)", "<hr>", "—"]
)
def test_code_and_formulas_hold_no_words(text: str) -> None:
    """Code, formulas, images and tags say nothing (C23)."""
    assert not has_words(text)


@pytest.mark.parametrize("text", ["It is `a`.", "$5 or $6", "`a` is", "340", "桥", "a $x$"])
def test_words_beside_them_do(text: str) -> None:
    """Words and numbers beside code and formulas count."""
    assert has_words(text)
