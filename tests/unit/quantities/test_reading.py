"""Numbers, dates and measures as texts have them."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.quantities.dates import make_date
from proxy.quantities.numerals import find_numerals
from proxy.quantities.quantity import Quantity
from proxy.quantities.reading import read_quantities


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("340", 340),
        ("1,830,000", 1_830_000),
        ("1.830.000", 1_830_000),
        ("1 830 000", 1_830_000),
        ("1'830'000", 1_830_000),
        ("12,34,567", 1_234_567),
        ("1.830.000,5", 1_830_000.5),
        ("1,830,000.5", 1_830_000.5),
        ("3.14", 3.14),
        ("1,83", 1.83),
        ("0.125", 0.125),
        ("1.83 million", 1_830_000),
        ("5 thousand", 5000),
        ("183만", 1_830_000),
        ("1억 2000만", 120_000_000),
        ("a hundred", 100),
        ("one hundred and twenty-three", 123),
        ("two thousand and five", 2005),
        ("five hundred and sixty thousand", 560_000),
        ("two million three hundred thousand", 2_300_000),
        ("one point eight three million", 1_830_000),
        ("two and a half million", 2_500_000),
        ("a million and a half", 1_500_000),
        ("half a million", 500_000),
        ("a dozen", 12),
        ("two dozen", 24),
        ("nineteen hundred and five", 1905),
        ("nineteen thirteen", 1913),
        ("eighteen oh five", 1805),
        ("twenty twenty", 2020),
        ("twenty-first", 21),
        ("one hundred and third", 103),
        ("3rd", 3),
    ],
)
def test_numerals(text: str, value: float) -> None:
    """A number is read whole, however it is written."""
    (found,) = find_numerals(f"Of {text}.")
    assert found.value == pytest.approx(value)
    assert (found.start, found.end) == (3, 3 + len(text))


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("between two hundred and three hundred", [200, 300]),
        ("one thousand and two thousand", [1000, 2000]),
        ("one two three", [1, 2, 3]),
        ("a couple of hundreds, a bridge, v2.0.1, A4", []),
        ("3.142", []),  # a point before three digits may separate thousands
        ("9" * 30, []),
    ],
)
def test_several_numerals_or_none(text: str, values: list[float]) -> None:
    """Numbers side by side stay apart; what could be read in two ways, or is a mark, is not read."""
    assert [found.value for found in find_numerals(text)] == values


@pytest.mark.parametrize(
    ("text", "year", "month", "day"),
    [
        ("5 May 1913", 1913, 5, 5),
        ("the fifth of May 1913", 1913, 5, 5),
        ("May 5, 1913", 1913, 5, 5),
        ("May 5th, 1913", 1913, 5, 5),
        ("Sept. 5, 1913", 1913, 9, 5),
        ("1913-05-05", 1913, 5, 5),
        ("05/05/1913", 1913, 5, 5),
        ("13/05/1913", 1913, 5, 13),
        ("05/13/1913", 1913, 5, 13),
        ("04/05/1913", 1913, None, None),
        ("13.5.1913", 1913, 5, 13),
        ("1913년 5월 5일", 1913, 5, 5),
        ("1913년", 1913, None, None),
        ("May 1913", 1913, 5, None),
        ("in 1913", 1913, None, None),
        ("in nineteen thirteen", 1913, None, None),
        ("the spring of 1913", 1913, None, None),
        ("In 1913 engineers built it", 1913, None, None),
        ("Opened: 1913", 1913, None, None),
        ("79 AD", 79, None, None),
        ("100 BC", -100, None, None),
        ("in 476", 476, None, None),
    ],
)
def test_dates(text: str, year: int, month: int | None, day: int | None) -> None:
    """A date is as exact as it is given; where day and month could be either, only the year counts."""
    (found,) = read_quantities(f"{text}.")
    expected = make_date(found.span, year, month, day)
    assert (found.kind, found.low, found.high) == ("date", expected.low, expected.high)


def years(first: float, last: float) -> tuple[float, float]:
    return make_date((0, 0), first).low, make_date((0, 0), last).high


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("in the 1970s", 1970, 1979),
        ("the nineteen seventies", 1970, 1979),
        ("the 19th century", 1801, 1900),
        ("the nineteenth century", 1801, 1900),
        ("19세기", 1801, 1900),
        ("the 1800s", 1800, 1899),
        ("1914-1918", 1914, 1918),
        ("1914–18", 1914, 1918),
        ("from 1914 to 1918", 1914, 1918),
        ("between 1914 and 1918", 1914, 1918),
        ("before 1920", -math.inf, 1920),
        ("since 1920", 1920, math.inf),
        ("1920-present", 1920, math.inf),
    ],
)
def test_periods(text: str, first: float, last: float) -> None:
    """Decades, centuries and ranges are intervals, in whole years."""
    (found,) = read_quantities(text)
    assert (found.kind, (found.low, found.high)) == ("date", years(first, last))


@pytest.mark.parametrize(
    ("text", "kind", "low", "high"),
    [
        ("340 metres", "length", 340, 340),
        ("0.34 km", "length", 340, 340),
        ("a six-foot wall", "length", 1.8288, 1.8288),
        ("5 ft 11 in", "length", 1.8034, 1.8034),
        ("2 hours and 30 minutes", "duration", 9000, 9000),
        ("68 °F", "temperature", 20, 20),
        ("-5 °C", "temperature", -5, -5),
        ("44 pounds", "mass", 19.958, 19.958),
        ("five square miles", "area", 12949940.55, 12949940.55),
        ("300 km/h", "speed", 300, 300),
        ("40 %", "share", 40, 40),
        ("forty per cent", "share", 40, 40),
        ("two fifths", "share", 40, 40),
        ("half of the town", "share", 50, 50),
        ("$5m", "money $", 5e6, 5e6),
        ("5 million US dollars", "money $", 5e6, 5e6),
        ("€2", "money €", 2, 2),
        ("5:30 p.m.", "clock", 1050, 1050),
        ("17:30", "clock", 1050, 1050),
        ("the third largest city", "ordinal", 3, 3),
        ("12 chapters", "count", 12, 12),
        ("2000 people", "count", 2000, 2000),
        ("a population of 1950", "count", 1950, 1950),
        ("It was Apollo 11", "label", 11, 11),
        ("COVID-19", "label", 19, 19),
        ("over 300 people", "count", 300, math.inf),
        ("at least 300 people", "count", 300, math.inf),
        ("300 or more people", "count", 300, math.inf),
        ("up to 300 people", "count", -math.inf, 300),
        ("fewer than 300 people", "count", -math.inf, 300),
        ("nearly 300 people", "count", 270, 300),
        ("longer than 300 m", "length", 300, math.inf),
        ("3 to 5 million km", "length", 3e9, 5e9),
        ("between 3 and 5 ships", "count", 3, 5),
        ("3–5 m", "length", 3, 5),
        ("in May", "day", 124, 154),
    ],
)
def test_amounts(text: str, kind: str, low: float, high: float) -> None:
    """Measures come in their base unit, bounded as their words say."""
    (found,) = read_quantities(text)
    assert found.kind == kind
    assert [found.low, found.high] == pytest.approx([low, high], rel=1e-4)


def test_what_is_two_amounts() -> None:
    """From one to another is a change, not a range."""
    assert [found.low for found in read_quantities("It rose from 3 to 5 million crowns.")] == [3e6, 5e6]


@pytest.mark.parametrize(
    "text",
    ["It may rise.", "No one came.", "A couple of days ago.", "They march on.", "The second-hand car of a friend.", ""],
)
def test_what_is_no_quantity(text: str) -> None:
    """Words that look like numbers or months say none."""
    assert [found for found in read_quantities(text) if found.kind != "ordinal"] == []


@given(st.text(alphabet=st.sampled_from("0123456789.,-–/ '’%$€:abmkstnrdhoePAM 만년월½٣一\n") | st.characters()))
def test_any_text_is_read(text: str) -> None:
    """Nothing raises; spans lie in the text, in order, without overlap."""
    end = 0
    for found in read_quantities(text):
        assert end <= found.span[0] < found.span[1] <= len(text)
        assert found.low <= found.high
        end = found.span[1]


WORDS = [
    "one",
    "nineteen",
    "hundred",
    "and",
    "million",
    "May",
    "5",
    "1913",
    "a",
    "half",
    "to",
    "between",
    "ft",
    "BC",
    "–",
]


@given(
    st.lists(st.sampled_from([*WORDS, "third", "dozen", "over", "the", "1970s", "century", "point", "oh", "$", "%"]))
)
def test_any_words_are_read(words: list[str]) -> None:
    """Nor does any order of the words that matter."""
    assert all(isinstance(found, Quantity) for found in read_quantities(" ".join(words)))


@pytest.mark.parametrize(
    "piece",
    ["1 ", "one ", "1,", "5 May 1913, ", "more than ", "between 3 and ", "1억 ", "- ", " ", "9", "a and a half "],
)
def test_reading_is_linear(piece: str) -> None:
    """Eight times the text takes about eight times as long, not sixty-four times."""

    def measure(length: int) -> float:
        text = piece * (length // len(piece))
        started = time.process_time()
        read_quantities(text)
        return time.process_time() - started

    assert measure(40_000) < 30 * measure(5_000) + 0.05
