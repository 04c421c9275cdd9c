"""The numbers of a text, however they are written: digits with separators, scales, words.

In: a text. Out: `Numeral`s in order, with value, place and how exactly each is given. What they measure is for the
others to find. Own code, since the libraries that read number words return a changed text and not the places, take
"nineteen thirteen" for two numbers and "no one" for a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from proxy.quantities.words import find_worded

GREATEST: Final = 1e18
"""Longer digits are identifiers, not amounts."""

_RUN: Final = re.compile(
    r"(?<![A-Za-z\u00c0-\u024f_\d])(?<!\d[.,])"
    r"(?:\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?![\d]|[.,]?\d)|\d+(?:[.,'’]\d+)*)"
)
_SHAPES: Final = (
    # Thousands between commas, as in English; in India in pairs; between dots or spaces, as on the continent.
    (re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?"), ","),
    (re.compile(r"\d{1,2}(?:,\d\d)+,\d{3}"), ","),
    (re.compile(r"\d{1,3}(?:\.\d{3}){2,}(?:,\d+)?|\d{1,3}\.\d{3},\d+"), "."),
    (re.compile(r"\d{1,3}(?:['’ \u00a0\u2009\u202f]\d{3})+(?:[.,]\d+)?"), "'’ \u00a0\u2009\u202f"),
    # A point before exactly three digits may separate thousands, so that it is not read, save after a zero.
    (re.compile(r"\d+|\d+\.(?!\d{3}$)\d+|0\.\d+|\d{4,}\.\d+|\d+,\d\d?"), ""),
)
_SCALES: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0} | {
    "mn": 1e6,
    "bn": 1e9,
    "tn": 1e12,
    "k": 1e3,
    "m": 1e6,
    "b": 1e9,
}
_SCALE: Final = re.compile(r"[\s-]?(hundred|thousand|million|billion|trillion|dozen|[mbt]n)\b", re.IGNORECASE)
_MONEY_SCALE: Final = re.compile(r"\s?([kmb])\b", re.IGNORECASE)
_HALF: Final = re.compile(r"\s+and\s+a\s+half\b", re.IGNORECASE)
_MYRIADS: Final = {"천": 1e3, "千": 1e3, "만": 1e4, "万": 1e4, "억": 1e8, "億": 1e8, "亿": 1e8, "조": 1e12, "兆": 1e12}
_MYRIAD: Final = re.compile(rf"[{''.join(_MYRIADS)}]")
_NEXT_MYRIAD: Final = re.compile(rf"\s?(\d+(?:[.,]\d+)*)([{''.join(_MYRIADS)}])")
_ORDINAL: Final = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Numeral:
    """A number at its place."""

    start: int
    end: int
    value: float
    step: float
    """Worth of its last digit: 0.01 million for "1.83 million"."""
    form: Literal["digits", "grouped", "words", "year", "decade"]
    """`digits` are bare ones; `year` and `decade` are words that can be nothing else ("nineteen thirteen")."""
    ordinal: bool = False
    scale: float = 1.0
    """What its digits are counted in: a million for "1.83 million"."""

    @property
    def zeros(self) -> float:
        """Worth of the last digit that is not 0."""
        step = self.step
        while self.value and self.value % (step * 10) == 0 and step < self.value:
            step *= 10
        return step


def find_numerals(text: str) -> list[Numeral]:
    """Return the numbers of a text in order; linear in its length."""
    numerals: list[Numeral] = []
    for numeral in sorted([*_find_digits(text), *_find_words(text)], key=lambda found: found.start):
        # One that a number before it has taken in, as in 1억 2000만, is none of its own.
        if numeral.value < GREATEST and not (numerals and numeral.start < numerals[-1].end):
            numerals.append(numeral)
    return numerals


def _find_digits(text: str) -> Iterator[Numeral]:
    for run in _RUN.finditer(text):
        read = _read_digits(run.group())
        if read is None:
            continue
        value, step = read
        form: Literal["digits", "grouped"] = "digits" if run.group().isdecimal() else "grouped"
        numeral = Numeral(run.start(), run.end(), value, step, form)
        if ordinal := _ORDINAL.match(text, run.end()):
            yield replace(numeral, end=ordinal.end(), ordinal=True)
        else:
            yield _scale(_add_myriads(numeral, text), text)


def _find_words(text: str) -> Iterator[Numeral]:
    for worded in find_worded(text):
        numeral = Numeral(worded.start, worded.end, worded.value, worded.step, worded.form, worded.ordinal)
        yield numeral if worded.ordinal or worded.form != "words" else _scale(numeral, text)


def _read_digits(raw: str) -> tuple[float, float] | None:
    """Return value and worth of the last digit, or None for what is no number or could be two."""
    for shape, separators in _SHAPES:
        if not shape.fullmatch(raw):
            continue
        digits = raw.translate(dict.fromkeys(map(ord, separators))).replace(",", ".")
        whole, _, decimals = digits.partition(".")
        return (float(digits), 10.0 ** -len(decimals)) if len(whole) + len(decimals) <= 18 else None  # noqa: PLR2004 - as GREATEST
    return None


def _scale(numeral: Numeral, text: str) -> Numeral:
    """Take in the "million" that follows, and "and a half" before or after it."""
    numeral = _add_half(numeral, text)
    after_money = text[max(0, numeral.start - 1) : numeral.start] in {*"$€£¥₩₹"}
    found = _SCALE.match(text, numeral.end) or (_MONEY_SCALE.match(text, numeral.end) if after_money else None)
    if found is None:
        return numeral
    scale = _SCALES[found.group(1).casefold()]
    form = "grouped" if numeral.form == "digits" else numeral.form
    value, step = numeral.value * scale, numeral.step * scale
    return _add_half(replace(numeral, end=found.end(), value=value, step=step, form=form, scale=scale), text)


def _add_half(numeral: Numeral, text: str) -> Numeral:
    half = _HALF.match(text, numeral.end)
    if half is None:
        return numeral
    return replace(numeral, end=half.end(), value=numeral.value + numeral.step / 2, step=numeral.step / 2)


def _add_myriads(numeral: Numeral, text: str) -> Numeral:
    """Take in the scales of Chinese, Japanese and Korean, of which several may follow each other (1억 2000만)."""
    found = _MYRIAD.match(text, numeral.end)
    if found is None:
        return numeral
    scale = _MYRIADS[found.group()]
    result = replace(
        numeral,
        end=found.end(),
        value=numeral.value * scale,
        step=numeral.step * scale,
        form="grouped",
        scale=scale,
    )
    while more := _NEXT_MYRIAD.match(text, result.end):
        read, smaller = _read_digits(more.group(1)), _MYRIADS[more.group(2)]
        if read is None or smaller >= scale:
            break
        scale = smaller
        result = replace(result, end=more.end(), value=result.value + read[0] * scale, step=read[1] * scale)
    return result
