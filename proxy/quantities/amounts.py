"""The amounts of a text: measures, money, shares, times of day, counts, ranks, numbers in names.

In: a text and those of its numbers that belong to no date. Out: quantities, each in the base unit of its dimension,
with the bound that its words set ("more than", "about").
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from proxy.quantities.numerals import Numeral
from proxy.quantities.quantity import ROUNDING_SHARE, Quantity, Span
from proxy.quantities.surroundings import (
    Bound,
    is_function_word,
    make_singular,
    read_bound,
    read_last_word,
    read_topics,
    word_set,
)
from proxy.quantities.units import INCH, Unit, match_unit

JOINT: Final = re.compile(r"\s?[-–—~/]{1,2}\s?|\s(?:to|and|or|until|through)\s")
"""What may stand between the two ends of a range."""
_COMPOUND_JOINT: Final = re.compile(r"\s?|,\s|\sand\s|,\sand\s|-")
_COMPOUNDS: Final = frozenset(
    {("foot", "inch"), ("hour", "minute"), ("minute", "seconds"), ("pound", "ounce"), ("year", "month")}
)
_INCHES: Final = re.compile(r"\s?in\b")
"""Only behind feet: elsewhere "in" is a word."""
_GLUED: Final = re.compile(r"[A-Za-z]")
_SHORT_DECADE: Final = re.compile(r"['’]s\b")
_CURRENCY: Final = re.compile(r"(?:\bUS|\bU\.S\.\s?)?([$€£¥₩])$|\b(USD|EUR|GBP|JPY|KRW)\s?$")
_CODES: Final = {"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "KRW": "₩"}
_CLOCK: Final = re.compile(
    r"(?<![\w:.,$€£-])(?:(\d{1,2})(?:[:.](\d\d))?\s?([ap])\.?\s?m\b|((?:0\d|1[3-9]|2[0-3])):([0-5]\d)(?![:\d]))",
    re.IGNORECASE,
)
_NUMERATOR_TEXT: Final = "a one two three four five six seven eight nine"
_NUMERATORS: Final = _NUMERATOR_TEXT.split()
_DENOMINATOR_TEXT: Final = "half third quarter fifth sixth seventh eighth ninth tenth"
_DENOMINATORS: Final = {name: value for value, name in enumerate(_DENOMINATOR_TEXT.split(), 2)}
_FRACTION: Final = re.compile(
    rf"\b(?:(?P<count>{'|'.join(_NUMERATORS[1:])})[\s-](?P<of>{'|'.join(_DENOMINATORS)})(?P<many>s)?"
    rf"|a\s(?P<part>{'|'.join(_DENOMINATORS)})(?=\sof\b)|(?P<half>half)(?=\s(?:of|the)\b))\b",
    re.IGNORECASE,
)
_FRACTION_SLACK: Final = 0.5
"""Percent: a third is 33 %."""
_NUMBERED: Final = word_set(
    "article chapter class episode figure grade level line no number page part phase room route season section step "
    "table type version volume"
)
_NO_ONE: Final = word_set("no any every some each this that the another which only")
_NO_NAMES: Final = word_set("both exactly precisely only just today another even still yet altogether nearly")
_NEARLY_FROM: Final = 0.9
_ABOUT_SHARE: Final = 0.1
"""Part of a value that "about" may hide at most; at least it hides `ROUNDING_SHARE`."""
_MORE: Final = 1e-6
"""Part of a value by which what is over it is greater at least."""


@dataclass(frozen=True, slots=True)
class _Measure:
    """What a number is of: its kind and unit, and where the whole begins and ends."""

    kind: str
    span: Span
    unit: Unit | None = None
    topics: frozenset[str] = frozenset()


def read_amounts(text: str, numerals: Sequence[Numeral]) -> list[Quantity]:
    """Return the amounts of a text; they may overlap where one was read twice, the longest first at each place."""
    found = [*_read_clocks(text), *_read_fractions(text), *_read_measures(text, numerals)]
    return sorted(found, key=lambda amount: (amount.span[0], -amount.span[1]))


def _read_clocks(text: str) -> Iterator[Quantity]:
    """Read times of day in minutes, those only that say which half of the day is meant."""
    for found in _CLOCK.finditer(text):
        twelve, past, half, hour, minute = found.groups()
        hours = int(hour) if hour else int(twelve) % 12 + (12 if half.casefold() == "p" else 0)
        minutes = hours * 60 + int(minute or past or 0)
        if half is None or 1 <= int(twelve) <= 12:  # noqa: PLR2004 - the hours of half a day
            yield Quantity("clock", minutes, minutes, found.span(), found.span())


def _read_fractions(text: str) -> Iterator[Quantity]:
    """Read fractions in words, in percent."""
    for found in _FRACTION.finditer(text):
        numerator = _NUMERATORS.index(found["count"].casefold()) if found["count"] else 1
        named = (found["of"] or found["part"] or found["half"]).casefold()
        share = 100 * numerator / _DENOMINATORS[named]
        if (numerator > 1) is bool(found["many"]):
            outer = read_bound(text, *found.span())
            amount = Quantity(
                "share", share, share, found.span(), found.span(), _FRACTION_SLACK, _FRACTION_SLACK, unit="percent"
            )
            if bounded := _bound(amount, outer[0], _FRACTION_SLACK):
                yield replace(bounded, outer=outer[1:])


def _read_measures(text: str, numerals: Sequence[Numeral]) -> Iterator[Quantity]:
    at = 0
    while at < len(numerals):
        following = numerals[at + 1] if at + 1 < len(numerals) else None
        numeral, borrowed = _borrow(text, numerals[at], following)
        measure = _measure(text, numeral, borrowed)
        at += 1
        if measure is None:
            continue
        amount, zeros = _value(text, numeral, measure)
        if following and measure.unit and (more := _read_compound(text, amount, measure.unit, following)):
            amount, at = more, at + 1
        bound, *outer = read_bound(text, *amount.span)
        if bounded := _bound(amount, bound, zeros):
            yield replace(bounded, outer=(outer[0], outer[1]))


def _borrow(text: str, numeral: Numeral, following: Numeral | None) -> tuple[Numeral, Unit | None]:
    """Take scale and unit over from the other end of a range: 3 to 5 million km."""
    if following is None or not JOINT.fullmatch(text, numeral.end, following.start):
        return numeral, None
    if numeral.scale == 1 < following.scale and numeral.value < following.value / following.scale:
        scale = following.scale
        numeral = replace(numeral, value=numeral.value * scale, step=numeral.step * scale, scale=scale)
    unit = match_unit(text, following.end, digits=following.form in {"digits", "grouped"})
    return numeral, unit[0] if unit else None


def _measure(text: str, numeral: Numeral, borrowed: Unit | None) -> _Measure | None:
    """Return what a number is of, or None where it says nothing that could be compared."""
    start, end = numeral.start, numeral.end
    digits = numeral.form in {"digits", "grouped"}
    if money := _CURRENCY.search(text[max(0, start - 8) : start]):
        return _Measure(f"money {money.group(1) or _CODES[money.group(2)]}", (start - len(money.group()), end))
    topics = read_topics(text, end)
    if numeral.ordinal:
        return _Measure("ordinal", (start, end), topics=topics)
    if found := match_unit(text, end, digits=digits):
        return _Measure(found[0].dimension, (start, found[1]), found[0])
    if borrowed:
        return _Measure(borrowed.dimension, (start, end), borrowed)
    if digits and (_GLUED.match(text, end) or _SHORT_DECADE.match(text, end)):
        return None
    word = read_last_word(text, start)
    joint = text[max(0, start - 2) : start]
    if numeral.form == "digits" and ((joint[1:] == "-" and joint[0].isalpha()) or (joint[1:] == " " and _names(word))):
        return _Measure("label", (start, end), topics=frozenset({make_singular(word.casefold())}))
    pronoun = numeral.value == 1 and not digits and word.casefold() in _NO_ONE
    if pronoun:
        return None
    return _Measure("count", (start, end), topics=topics)


def _names(word: str) -> bool:
    """Return whether the word before a number makes it a name: Apollo 11, page 5."""
    if word.casefold() in _NUMBERED:
        return True
    return len(word) > 1 and word[0].isupper() and not is_function_word(word) and word.casefold() not in _NO_NAMES


def _value(text: str, numeral: Numeral, measure: _Measure) -> tuple[Quantity, float]:
    """Return the amount as stated, and half the worth of its last digit that is not 0."""
    unit = measure.unit or Unit("", "", 1.0)
    (start, end), value = measure.span, numeral.value
    if text[start - 1 : start] in {"-", "−"} and (start == 1 or text[start - 2].isspace()):
        start, value = start - 1, -value
    base = value * unit.factor + unit.offset
    cap = abs(value) * ROUNDING_SHARE
    slack, rounding = (min(digit / 2, cap) * unit.factor for digit in (numeral.step, numeral.zeros))
    span = start, end
    amount = Quantity(measure.kind, base, base, span, span, slack, rounding, unit.name, measure.topics)
    return amount, numeral.zeros / 2 * unit.factor


def _read_compound(text: str, amount: Quantity, unit: Unit, following: Numeral) -> Quantity | None:
    """Take in the smaller unit that follows: 6 feet 2 inches."""
    digits = following.form == "digits"
    inches = _INCHES.match(text, following.end) if digits and unit.name == "foot" else None
    smaller = (INCH, inches.end()) if inches else match_unit(text, following.end, digits=digits)
    if not smaller or not _COMPOUND_JOINT.fullmatch(text, amount.span[1], following.start):
        return None
    if (unit.name, smaller[0].name) not in _COMPOUNDS:
        return None
    base = amount.low + following.value * smaller[0].factor
    slack = following.step / 2 * smaller[0].factor
    span = amount.span[0], smaller[1]
    return replace(
        amount, low=base, high=base, slack=slack, rounding=slack, unit=smaller[0].name, span=span, outer=span
    )


def _bound(amount: Quantity, bound: Bound | None, zeros: float) -> Quantity | None:
    """Widen an amount as its bound says; None where that is unclear."""
    value = amount.low
    if bound == "unclear":
        return None
    if bound in {"over", "under"} and amount.kind == "duration":
        # "Over three years" may be all through them.
        bound = "from" if bound == "over" else "to"
    if bound == "about":
        slack = min(max(zeros, abs(value) * ROUNDING_SHARE), abs(value) * _ABOUT_SHARE)
        return replace(amount, slack=slack, rounding=slack)
    more = abs(value) * _MORE
    low, high = {
        "over": (value + more, math.inf),
        "from": (value, math.inf),
        "under": (-math.inf, value - more),
        "to": (-math.inf, value),
        "nearly": (value * _NEARLY_FROM, value),
    }.get(bound or "", (value, value))
    return replace(amount, low=low, high=high)
