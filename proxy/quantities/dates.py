"""The dates of a text: days, months, years, decades, centuries.

In: a text and its numbers. Out: quantities of the kinds `date` and `day`, and so which numbers are taken. Dates are
counted on an even calendar of twelve months with 31 days, on which earlier is less and no table of days is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from proxy.quantities.numerals import Numeral
from proxy.quantities.quantity import Quantity, Span
from proxy.quantities.surroundings import REACH, is_function_word, read_last_word, read_topics, word_set
from proxy.quantities.units import match_unit

DAYS: Final = 31
YEAR: Final = 12 * DAYS

_MONTH_TEXT: Final = """
january february march april may june july august september october november december
"""
_MONTHS: Final = _MONTH_TEXT.split()
_MONTH: Final = re.compile(
    rf"\b(?:{'|'.join(month.title() for month in _MONTHS)}"
    r"|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)(?!\w)"
)
_WRITTEN: Final = re.compile(
    r"(?<![\d/.-])(?:(?P<iso>\d{4}-\d{2}-\d{2})|(?P<slash>\d{1,2}/\d{1,2}/\d{4})"
    r"|(?P<dots>\d{1,2}\.\s?\d{1,2}\.\s?\d{4}))"
    r"(?![\d/-])"
    r"|(?<!\d)(?P<year>[12]\d{3})\s?[년年](?:\s?(?P<month>\d{1,2})\s?[월月](?:\s?(?P<day>\d{1,2})\s?[일日])?)?"
)
_JOINT: Final = re.compile(r"\s{1,2}(?:of\s|the\s)?(?:the\s)?|,\s?|-|\sof\s|,\s(?:in\s)?")
_ERA_BEHIND: Final = re.compile(r"\s?(?:(B\.?C\.?(?:E\.?)?)|A\.?D\.?|C\.?E\.?)(?![A-Za-z])")
_ERA_BEFORE: Final = re.compile(r"\b(?:AD|CE)\s?$")
_CENTURY: Final = re.compile(r"(?:[\s-]century|[\s-]centuries|\s?[세世][기紀纪])(?!\w)", re.IGNORECASE)
_DECADE: Final = re.compile(r"['’]?s\b")
_SHORT_YEAR: Final = re.compile(r"\s?[-–—/]\s?(\d\d)(?!\d|[/-]\d)")
"""The second year of 1914-18."""
_PART: Final = re.compile(
    r"\b(?:(early)|(mid|middle)|(late))(?:\s+part|\s+years|\s+days)?[\s-](?:of\s)?(?:the\s)?$", re.IGNORECASE
)
_ARTICLE: Final = re.compile(r"\bthe\s$", re.IGNORECASE)
_MAY_BE_WORDS: Final = frozenset({"May", "March"})
_BEFORE_MONTH: Final = word_set("in of since until till by during last next this late early mid from to on and")
_BEFORE_YEAR: Final = word_set(
    "in since until till by during year from before after early late mid spring summer autumn winter fall circa c ca "
    "between and to"
)
_FIRST_YEAR, _LAST_YEAR = 1000, 2199
"""Four bare digits between these may be a year."""
_LEAST_SURE_YEAR: Final = 100


def read_dates(text: str, numerals: Sequence[Numeral]) -> list[Quantity]:
    """Return the dates of a text; they may overlap where one was read twice, the longest first at each place."""
    found = [*_read_written(text), *_read_months(text, numerals), *_read_years(text, numerals)]
    return sorted(found, key=lambda date: (date.span[0], -date.span[1]))


def make_date(span: Span, year: float, month: int | None = None, day: int | None = None) -> Quantity:
    """Return a date as exact as it is given; one with its month also states the day of the year."""
    low, high = year * YEAR, (year + 1) * YEAR - 1
    if month is None:
        return Quantity("date", low, high, span, span)
    yearless = make_day(span, month, day)
    return Quantity("date", low + yearless.low, low + yearless.high, span, span, parts=(yearless,))


def make_day(span: Span, month: int, day: int | None) -> Quantity:
    """Return a day or month of any year."""
    low = (month - 1) * DAYS
    return (
        Quantity("day", low + day - 1, low + day - 1, span, span)
        if day
        else Quantity("day", low, low + DAYS - 1, span, span)
    )


def _read_written(text: str) -> Iterator[Quantity]:
    """Read dates in digits alone; where day and month could be either, only the year."""
    for found in _WRITTEN.finditer(text):
        numbers = [int(number) for number in re.findall(r"\d+", found.group())]
        if found["slash"] or found["dots"]:
            numbers.reverse()
        if found["slash"]:
            year, *rest = numbers
            either = rest[0] != rest[1] and max(rest) <= len(_MONTHS)
            numbers = [year] if either else [year, *sorted(rest)]
        if numbers[0] and _is_valid(*numbers[1:]):
            yield make_date(found.span(), *numbers)


def _is_valid(month: int = 1, day: int = 1) -> bool:
    return 1 <= month <= len(_MONTHS) and 1 <= day <= DAYS


def _read_months(text: str, numerals: Sequence[Numeral]) -> Iterator[Quantity]:
    """Read named months with the day and year around them."""
    at = 0
    for found in _MONTH.finditer(text):
        while at < len(numerals) and numerals[at].end <= found.start():
            at += 1
        before = numerals[at - 1] if at else None
        behind = [*numerals[at : at + 2], None, None]
        start, end = found.span()
        day = year = None
        if before and _is_day(before) and _JOINT.fullmatch(text, before.end, start):
            day, start = before, before.start
        if day is None and behind[0] and _is_day(behind[0]) and _JOINT.fullmatch(text, end, behind[0].start):
            day, end = behind[0], behind[0].end
            behind = behind[1:]
        if behind[0] and _may_be_year(behind[0]) and _JOINT.fullmatch(text, end, behind[0].start):
            year, end = behind[0], behind[0].end
        if day is None and year is None and not _is_month_alone(text, found):
            continue
        month = next(index for index, name in enumerate(_MONTHS, 1) if name.startswith(found.group()[:3].casefold()))
        day_of_month = int(day.value) if day else None
        span = start, end
        yield make_date(span, year.value, month, day_of_month) if year else make_day(span, month, day_of_month)


def _is_month_alone(text: str, found: re.Match[str]) -> bool:
    word = read_last_word(text, found.start())
    return word in _BEFORE_MONTH if found.group() in _MAY_BE_WORDS else not found.group().endswith(".")


def _is_day(numeral: Numeral) -> bool:
    whole = numeral.form in {"digits", "words"} and numeral.scale == 1 and numeral.value.is_integer()
    return whole and 1 <= numeral.value <= DAYS


def _may_be_year(numeral: Numeral) -> bool:
    if numeral.ordinal or numeral.scale != 1:
        return False
    whole = numeral.form in {"digits", "words", "year"} and numeral.value.is_integer()
    return whole and (numeral.form == "year" or _FIRST_YEAR <= numeral.value <= _LAST_YEAR)


def _read_years(text: str, numerals: Sequence[Numeral]) -> Iterator[Quantity]:
    """Read centuries, decades and years that stand alone."""
    for numeral in numerals:
        start, end, value = numeral.start, numeral.end, numeral.value
        century = _CENTURY.match(text, end)
        decade = _DECADE.match(text, end)
        if century and 1 <= value <= _LAST_YEAR // 100 and (numeral.ordinal or century.group().strip()[0] in "세世"):
            era = _ERA_BEHIND.match(text, century.end())
            first = -100 * value if era and era.group(1) else 100 * value - 99
            yield _make_part(text, (start, era.end() if era else century.end()), first, 100)
        elif numeral.form == "decade":
            yield _make_part(text, (start, end), value, 10)
        elif decade and numeral.form == "digits" and value % 10 == 0 and _may_be_year(numeral):
            yield _make_part(text, (start, decade.end()), value, 10 if value % 100 else 100)
        elif era := _ERA_BEHIND.match(text, end):
            if not numeral.ordinal and value == int(value) and value <= _LAST_YEAR:
                yield make_date((start, era.end()), -value if era.group(1) else value)
        elif _is_year(text, numeral):
            yield make_date((start, end), value)
            last = _SHORT_YEAR.match(text, end)
            if last and (short := int(last.group(1))) > value % 100:
                yield make_date(last.span(1), value - value % 100 + short)


def _make_part(text: str, span: Span, first: float, years: int) -> Quantity:
    """Return a decade or century, or the early, middle or late part of one."""
    start, end = span
    low, high = first * YEAR, (first + years) * YEAR - 1
    before = text[max(0, start - REACH) : start]
    if part := _PART.search(before):
        length = high - low
        early, middle, _ = part.groups()
        begin, stop = (0.0, 0.5) if early else (0.3, 0.7) if middle else (0.5, 1.0)
        low, high = low + begin * length, low + stop * length
    taken = part or _ARTICLE.search(before)
    outer = start - len(before) + taken.start() if taken else start
    if part and (article := _ARTICLE.search(text[max(0, outer - REACH) : outer])):
        outer -= len(article.group())
    return Quantity("date", low, high, (outer, end), (outer, end))


def _is_year(text: str, numeral: Numeral) -> bool:
    """Return whether a lone number is a year, by its form and the words on both sides."""
    if numeral.form == "year":
        return True
    bare = not numeral.ordinal and numeral.scale == 1 and numeral.form in {"digits", "words"}
    if not bare or text[numeral.end : numeral.end + 1].isalnum() or match_unit(text, numeral.end, digits=True):
        return False
    before = read_last_word(text, numeral.start).casefold()
    topics = read_topics(text, numeral.end)
    if _ERA_BEFORE.search(text[max(0, numeral.start - REACH) : numeral.start]):
        return True
    if not _may_be_year(numeral):
        return before == "in" and not topics and numeral.form == "digits" and _LEAST_SURE_YEAR <= numeral.value < 1000  # noqa: PLR2004 - three digits
    if before == "of" and _AMOUNT_OF.search(text[max(0, numeral.start - REACH) : numeral.start]):
        return False
    if before in _BEFORE_YEAR:
        return numeral.form == "digits" or not topics
    return numeral.form == "digits" and not _counts_something(text, numeral) and before not in _AMOUNT_WORDS


_AMOUNT_WORDS: Final = word_set("over than nearly almost least most some total with has have had")
_AMOUNT_OF: Final = re.compile(
    r"\b(?:population|total|number|average|sum|crew|capacity|length|height|weight|speed|area|group|some|score)\s+of\s+$"
)
_PLURAL: Final = re.compile(r"[\s-]([^\W\d_]+)")
_NO_PLURALS: Final = word_set("was is as has his its this thus plus across towards besides always perhaps")


def _counts_something(text: str, numeral: Numeral) -> bool:
    found = _PLURAL.match(text, numeral.end)
    if found is None or is_function_word(found.group(1)):
        return False
    word = found.group(1)
    return word in {"people", "men", "women", "children"} or (word.endswith("s") and word not in _NO_PLURALS)
