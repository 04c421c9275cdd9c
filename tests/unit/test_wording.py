"""The words, numbers and names of a text (finding the nearest text has its own file)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.wording import content_words_of, names_of, numbers_of, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It opened in 1913, it did.", {"it", "opened", "in", "1913", "did"}),
        ("STRASSE Straße", {"strasse"}),
        ("Ｗｉｄｅ ﬁne", {"wide", "fine"}),
        ("3.5 and 48,000", {"3.5", "and", "48,000"}),
        ("橋は長い", {"橋は", "は長", "長い"}),
        ("橋", {"橋"}),
        ("snake_case", {"snake", "case"}),
        ("?! …", set()),
    ],
)
def test_words(text: str, words: set[str]) -> None:
    """Case and width do not count, numbers stay whole, scripts without spaces come in pairs of letters."""
    assert words_of(text) == words


def test_content_words() -> None:
    """Words that any two sentences share say nothing of their subject."""
    assert content_words_of("It was opened by the mayor of Verdane.") == {"opened", "mayor", "verdane"}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Opened in 1913, 340 metres.", {"1913", "340"}),
        ("48,000 or 48.000 or 48000", {"48000"}),
        ("1,234,567.5", {"1234567.5"}),
        ("3.14 and 3,1", {"3.14", "3,1"}),
        ("the 19th, the 1990s, No. 5.", {"19", "1990", "5"}),
        ("１９１３年", {"1913"}),
        ("nineteen", set()),
    ],
)
def test_numbers(text: str, numbers: set[str]) -> None:
    """Numbers in digits count, however their thousands are parted."""
    assert numbers_of(text) == numbers


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Verdane Bridge opened.", {"verdane", "bridge"}),
        ("The bridge is in Verdane.", {"verdane"}),
        ("It is McLean's.", {"mclean"}),
        ("Élan in Łódź", {"élan", "łódź"}),
        ("iPhone", set()),
        ("北京", set()),
    ],
)
def test_names(text: str, names: set[str]) -> None:
    """Words with a capital count as names, small words at the start of a sentence aside."""
    assert names_of(text) == names


@settings(deadline=None)
@given(st.text(), st.text())
def test_any_texts(one: str, other: str) -> None:
    """Whatever the texts, two lines hold the words, numbers and names of each."""
    both = f"{one}\n{other}"
    assert numbers_of(one) | numbers_of(other) <= numbers_of(both)
    assert words_of(one) | words_of(other) <= words_of(both)
    assert names_of(one) | names_of(other) <= names_of(both)
