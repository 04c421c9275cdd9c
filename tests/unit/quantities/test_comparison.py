"""What a premise's quantities say of a claim's."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fakes.number_pairs import EQUAL, UNEQUAL
from proxy.quantities.comparison import adds_quantities, align_quantities, compare_quantities
from proxy.quantities.reading import read_quantities


@pytest.mark.parametrize(("premise", "claim"), EQUAL)
def test_equal_values_in_other_forms(premise: str, claim: str) -> None:
    """They agree, and the claim is put in the premise's form, in which it is the same again."""
    assert compare_quantities(premise, claim) == "agree"
    aligned = align_quantities(claim, premise)
    assert compare_quantities(premise, aligned) == "agree"
    assert align_quantities(aligned, premise) == aligned


@pytest.mark.parametrize(("premise", "claim"), UNEQUAL)
def test_unequal_values(premise: str, claim: str) -> None:
    """They differ, and the claim stays as it is."""
    assert compare_quantities(premise, claim) == "differ"
    assert align_quantities(claim, premise) == claim


@pytest.mark.parametrize(
    ("premise", "claim"),
    [
        ("It opened in 1913.", "It opened on 5 May 1913."),  # more exact
        ("It is over 300 metres long.", "It is 340 metres long."),
        ("The city has 1.8 million inhabitants.", "The city has 1,830,000 inhabitants."),
        ("It opened in 1913.", "It is 340 metres long."),  # nothing comparable
        ("It has 12 chapters.", "It has 340 pages."),
        ("It opened in 1913.", "It is long."),  # nothing to compare
        ("It is long.", "It opened in 1913."),
        ("It opened in 1913.", "It did not open in 1931."),  # denied
        ("It opened in 1913.", "It didn't open in 1931."),
        ("Ada Lorne (5 May 1913 – 2 June 1980) was a painter.", "Ada Lorne died in May 1980."),  # within her life
        ("Released on 10 May 2018, it reached Japan on June 28.", "It reached Japan on 28 June 2018."),
        ("They were married and had three children.", "The two were happy."),
    ],
)
def test_what_stays_open(premise: str, claim: str) -> None:
    """A claim more exact than its premise, of another kind, or one that denies is for the model to judge."""
    assert compare_quantities(premise, claim) == "open"


@pytest.mark.parametrize(
    ("premise", "claim", "found"),
    [
        ("It opened in 1913 and was restored in 1950.", "It was restored in 1950.", "agree"),
        ("It opened in 1913 and was restored in 1950.", "It was painted in 1931.", "differ"),
        ("The 2007 film came out on 1 June 2007.", "The film came out on 1 April 2007.", "differ"),
        ("It is 340 m long and 12 m wide.", "It is 12 m wide and 340 m long.", "agree"),
        ("It is 340 m long and 12 m wide.", "It is 14 m wide and 340 m long.", "differ"),
        ("It began in 1914 and ended in 1918.", "It lasted from 1914 to 1918.", "agree"),
        ("It lasted from 1914 to 1918.", "It began in 1914.", "agree"),
        ("It has 12,000 inhabitants.", "Its population is 15,000.", "differ"),
        ("It has 12,000 inhabitants and 3 churches.", "It has 12,000 inhabitants and 4 churches.", "differ"),
    ],
)
def test_several_quantities(premise: str, claim: str, found: str) -> None:
    """Each quantity of the claim needs one of the premise."""
    assert compare_quantities(premise, claim) == found


def test_wider_values_are_not_aligned_where_that_is_unsound() -> None:
    """Neither where the claim denies them, nor where the premise has two that they hold."""
    assert align_quantities("It did not open in the 1970s.", "It opened in 1974.") == "It did not open in the 1970s."
    two = "She was born in 1974 and wrote it in 1979."
    assert align_quantities("She wrote it in the 1970s.", two) == "She wrote it in the 1970s."


@pytest.mark.parametrize(
    ("text", "known", "new"),
    [
        ("It opened in nineteen thirteen.", "It opened in 1913.", False),
        ("It has 1.83 million inhabitants.", "It has 1,830,000 inhabitants.", False),
        ("It opened on May 5, 1913.", "It opened on 5 May 1913.", False),
        ("It opened in 1913.", "It opened in 1931.", True),
        ("It opened in nineteen twenty.", "It opened in 1931.", True),
        ("It cost 9 million.", "It opened in 1913.", True),
        ("It is model 3.142.", "It is long.", True),
        ("It is one of the oldest.", "It is one of them.", False),
        ("It opened.", "It opened in 1913.", False),
    ],
)
def test_new_quantities(text: str, known: str, *, new: bool) -> None:
    """A value in another form is not new; a number in words may be."""
    assert adds_quantities(text, known) is new


UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
SMALL = [*UNITS.split(), "eighteen", "nineteen"]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spell(number: int) -> str:
    """Write a number below a billion in English."""
    for scale, name in ((1_000_000, "million"), (1000, "thousand")):
        if number >= scale:
            rest = number % scale
            joint = " and " if 0 < rest < 100 else " "
            return f"{spell(number // scale)} {name}{joint + spell(rest) if rest else ''}"
    if number >= 100:
        return f"{SMALL[number // 100]} hundred{f' and {spell(number % 100)}' if number % 100 else ''}"
    if number < 20:
        return SMALL[number]
    return TENS[number // 10] + (f"-{SMALL[number % 10]}" if number % 10 else "")


def forms_of(number: int) -> list[str]:
    grouped = f"{number:,}"
    continental = grouped.replace(",", ".") if number >= 1_000_000 else grouped
    return [grouped, continental, grouped.replace(",", " "), spell(number)]


NUMBERS = st.integers(2, 999_999_999)


@given(NUMBERS, st.sampled_from(["people", "metres", "percent", "kg", "dollars"]))
def test_a_number_agrees_with_itself_in_every_form(number: int, unit: str) -> None:
    """However the two texts write it."""
    texts = [f"There were {form} {unit} in all." for form in forms_of(number)]
    assert {compare_quantities(one, other) for one, other in pairwise([*texts, texts[0]])} == {"agree"}
    assert {align_quantities(one, texts[0]) for one in texts} == {texts[0]}


@given(NUMBERS, NUMBERS)
def test_unequal_numbers_differ_in_every_form(one: int, other: int) -> None:
    """And in both directions."""
    assume(one != other)
    for left, right in zip(forms_of(one), reversed(forms_of(other)), strict=True):
        assert compare_quantities(f"It has {left} rooms.", f"It has {right} rooms.") == "differ"
        assert compare_quantities(f"It has {right} rooms.", f"It has {left} rooms.") == "differ"


def dates_of(day: date) -> list[str]:
    month = day.strftime("%B")
    return [
        f"{day.day} {month} {day.year}",
        f"{month} {day.day}, {day.year}",
        f"the {day.day}th of {month} {day.year}",
        day.isoformat(),
        f"{day.year}년 {day.month}월 {day.day}일",
    ]


DAYS = st.dates(date(1000, 1, 1), date(2199, 12, 31))


@given(DAYS, DAYS)
def test_dates_in_every_form(one: date, other: date) -> None:
    """A date agrees with itself, and differs from another, in every form."""
    expected = "agree" if one == other else "differ"
    for left, right in zip(dates_of(one), reversed(dates_of(other)), strict=True):
        assert compare_quantities(f"It opened on {left}.", f"It opened on {right}.") == expected
        assert compare_quantities(f"It opened on {left}.", f"It opened on {left}.") == "agree"
    assert compare_quantities(f"It opened on {one.isoformat()}.", f"It opened in {one.year}.") == "agree"
    assert compare_quantities(f"It opened in {one.year}.", f"It opened on {one.isoformat()}.") == "open"


@given(st.text(), st.text())
def test_any_texts_are_compared(premise: str, claim: str) -> None:
    """Nothing raises, and without quantities nothing is changed."""
    assert compare_quantities(premise, claim) in {"agree", "differ", "open"}
    aligned = align_quantities(claim, premise)
    assert aligned == claim or read_quantities(claim)
