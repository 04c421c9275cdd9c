"""When a drawn claim says what a labelled one says."""

from __future__ import annotations

import pytest

from evaluation.agreement import compare_claims

BORN = "Ada Lorne was born in Perth in 1867."
DIED = "Ada Lorne died in Sydney in 1934."


@pytest.mark.parametrize(
    ("drawn", "labelled"),
    [
        (BORN, BORN),
        ("In 1867, Ada Lorne was born in Perth.", BORN),
        ("The bridge opens in 1913", "The bridge opened in 1913."),
        ("The Moon isn't made of cheese.", "The Moon is not made of cheese."),
        ("Verdane Bridge: Length: 340 m.", "Verdane Bridge has a length of 340 m."),
        ("The town has 5,000 inhabitants.", "The town has 5000 inhabitants."),
        ("세종은 1450년에 죽었다.", "세종은 1450년에 죽었다."),
    ],
)
def test_same(drawn: str, labelled: str) -> None:
    """Order, endings, contractions and separators make no difference."""
    agreement = compare_claims([drawn], [labelled])
    assert (agreement.covered, agreement.right, agreement.compound) == ((True,), (True,), (False,))


@pytest.mark.parametrize(
    ("drawn", "labelled"),
    [
        ("Ada Lorne was born in Perth in 1876.", BORN),
        ("Ada Lorne was born in Sydney in 1867.", BORN),
        ("Tom Hall was born in Perth in 1867.", BORN),
        ("Ada Lorne was not born in Perth in 1867.", BORN),
        ("Ada Lorne may have been born in Perth in 1867.", BORN),
        ("She was born in Perth in 1867.", BORN),
        ("The museum was restored in 1998.", "The reading room was restored in 1998."),
        ("The plant has two towers.", "The plant has three towers."),
        ("The tower leans by 4 degrees.", "The mayor claims that the tower leans by 4 degrees."),
        ("Penguins fly.", "Penguins cannot fly."),
        ("Ada Lorne was born in Perth in 1867 and was a lovely, kind and clever child.", BORN),
        ("Ada.", BORN),
    ],
)
def test_different(drawn: str, labelled: str) -> None:
    """Another number, name, subject, negation or modal, a lost attribution, a pronoun, or more besides is wrong."""
    agreement = compare_claims([drawn], [labelled])
    assert (agreement.covered, agreement.right) == ((False,), (False,))


def test_two_in_one() -> None:
    """A claim that holds two covers both, but neither has one of its own."""
    agreement = compare_claims(["Ada Lorne was born in Perth in 1867 and died in Sydney in 1934."], [BORN, DIED])
    assert agreement.covered == (True, True)
    assert agreement.alone == (False, False)
    assert (agreement.right, agreement.compound) == ((True,), (True,))


def test_one_in_two() -> None:
    """Parts that stand alone are right, and together cover the whole."""
    parts = ["Ada Lorne was born in Perth.", "Ada Lorne was born in 1867."]
    agreement = compare_claims(parts, [BORN, DIED])
    assert agreement.covered == agreement.alone == (True, False)
    assert agreement.right == (True, True)
    assert compare_claims(parts[:1], [BORN]).covered == (False,)


def test_mixed_up() -> None:
    """What is put together from two claims is neither."""
    agreement = compare_claims(["Ada Lorne was born in Sydney in 1934."], [BORN, DIED])
    assert (agreement.covered, agreement.right) == ((False, False), (False,))


def test_aliases() -> None:
    """Names that mean the same in a draft are the same."""
    assert compare_claims(["The town was rebuilt."], ["Verdane was rebuilt."], [["Verdane", "the town"]]).right == (
        True,
    )
    assert compare_claims(["The town was rebuilt."], ["Verdane was rebuilt."]).right == (False,)


def test_nothing() -> None:
    """A sentence without claims, and one of which none is drawn."""
    assert compare_claims(["It is lovely."], []).right == (False,)
    assert compare_claims([], [BORN]).covered == (False,)
