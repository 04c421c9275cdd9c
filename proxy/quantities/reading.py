"""All quantities of a text in order, ranges put together.

In: a text. Out: its quantities, none overlapping another. Dates come first, since a number that belongs to one
measures nothing; what is left are amounts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from proxy.quantities.amounts import JOINT, read_amounts
from proxy.quantities.dates import YEAR, read_dates
from proxy.quantities.numerals import find_numerals
from proxy.quantities.quantity import Quantity
from proxy.quantities.surroundings import REACH

_BETWEEN: Final = re.compile(r"\bbetween\s$", re.IGNORECASE)
_FROM: Final = re.compile(r"\bfrom\s$", re.IGNORECASE)
_DATE_BOUND: Final = re.compile(
    r"\b(?:(?P<before>before|by|prior\s+to|no\s+later\s+than)|(?P<after>after|no\s+earlier\s+than)|(?P<since>since)"
    r"|(?P<about>about|around|circa|ca?\.|approximately|roughly))\s?$",
    re.IGNORECASE,
)
_TO_NOW: Final = re.compile(r"\s?(?:[-–—]|to|until)\s?(?:present|now|today|date)\b", re.IGNORECASE)
_ABOUT_YEARS: Final = 5
"""Years that "about 1913" may be off."""


def read_quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text in order; linear in its length, whatever the text."""
    numerals = find_numerals(text)
    dates = _drop_overlaps(read_dates(text, numerals))
    taken = {place for date in dates for place in range(*date.span)}
    amounts = read_amounts(text, [numeral for numeral in numerals if numeral.start not in taken])
    free = [amount for amount in amounts if taken.isdisjoint(range(*amount.span))]
    dates = [_bound_date(text, date) for date in dates]
    return tuple(_join_ranges(text, _drop_overlaps(sorted([*dates, *free], key=lambda found: found.span[0]))))


def _drop_overlaps(found: Iterable[Quantity]) -> list[Quantity]:
    """Keep of quantities that overlap the first."""
    kept: list[Quantity] = []
    for quantity in found:
        if not kept or quantity.span[0] >= kept[-1].span[1]:
            kept.append(quantity)
    return kept


def _bound_date(text: str, date: Quantity) -> Quantity:
    """Widen a date as the word before it says: before, after, about."""
    start = date.outer[0]
    low = max(0, start - REACH)
    found = _DATE_BOUND.search(text[low:start])
    if date.kind != "date":
        return date
    if now := _TO_NOW.match(text, date.span[1]):
        span = date.span[0], now.end()
        return replace(date, high=math.inf, span=span, outer=span, parts=(date,), extent=True)
    if found is None:
        return date
    outer = low + found.start(), date.outer[1]
    if found["before"]:
        return replace(date, low=-math.inf, outer=outer)
    if found["since"]:
        return replace(date, high=math.inf, outer=outer, parts=(date,), extent=True)
    if found["after"]:
        return replace(date, high=math.inf, outer=outer)
    slack = float(_ABOUT_YEARS * YEAR)
    return replace(date, slack=slack, rounding=slack, outer=outer)


def _join_ranges(text: str, quantities: list[Quantity]) -> list[Quantity]:
    """Put the two ends of each range together."""
    joined: list[Quantity] = []
    for quantity in quantities:
        last = joined[-1] if joined else None
        range_ = _join(text, last, quantity) if last else None
        if range_:
            joined[-1] = range_
        else:
            joined.append(quantity)
    return joined


def _join(text: str, first: Quantity, last: Quantity) -> Quantity | None:
    """Return the range of two neighbours, or None where they are none.

    Between two dates stands a period ("1914-1918"), unless it says "between"; between two amounts, what is not known
    more exactly. "From 3 to 5 million" are two amounts, before and after.
    """
    joint = text[first.span[1] : last.span[0]]
    if first.extent or len(first.parts) > 1:
        return None
    if first.kind != last.kind or first.low >= last.low or not JOINT.fullmatch(joint):
        return None
    before = text[max(0, first.span[0] - REACH) : first.span[0]]
    between, dates = _BETWEEN.search(before), first.kind in {"date", "day"}
    word = joint.strip()
    if word == "or" or (word == "and" and not between) or (word.isalpha() and not dates and _FROM.search(before)):
        return None
    span = first.outer[0] - (len(between.group()) if between else 0), last.outer[1]
    extent = dates and not between
    return replace(last, low=first.low, high=last.high, span=span, outer=span, parts=(first, last), extent=extent)
