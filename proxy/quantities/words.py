"""English number words: a hundred and three, twenty-first, nineteen thirteen, one point eight.

In: a text. Out: `Worded` numbers with their places. A small grammar of its own, beside the digits: groups below a
thousand, scales that fall from left to right, and two groups beside each other that make a year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

_CARDINAL_TEXT: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
"""
_ORDINAL_TEXT: Final = """
zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
fifteenth sixteenth seventeenth eighteenth nineteenth
"""
_TENS_TEXT: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_UNITS: Final = {word: value for value, word in enumerate(_CARDINAL_TEXT.split())}
_TENFOLD: Final = {word: 10 * value for value, word in enumerate(_TENS_TEXT.split(), 2)}
_ORDINALS: Final = {word: value for value, word in enumerate(_ORDINAL_TEXT.split())} | {
    f"{word[:-1]}ieth": value for word, value in _TENFOLD.items()
}
_DECADES: Final = {f"{word[:-1]}ies": value for word, value in _TENFOLD.items()}
_BIG: Final = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_ARTICLE: Final = {"a": 1, "an": 1}
_WORDS: Final = {*_UNITS, *_TENFOLD, *_ORDINALS, *_DECADES, *_BIG, *_ARTICLE} | {
    "hundred",
    "hundredth",
    "dozen",
    "and",
    "point",
    "oh",
    "half",
}
_WORD: Final = re.compile(r"[^\W\d_]+")
_LINK: Final = re.compile(r"\s{1,2}|-")

_FIRST_YEAR_PAIR, _LAST_YEAR_PAIR = 10, 21
"""Nineteen thirteen is a year, ninety ten is none."""
_HUNDRED: Final = 100


@dataclass(frozen=True, slots=True)
class Worded:
    """A number in words at its place; `step` is the worth of its last digit."""

    start: int
    end: int
    value: float
    step: float = 1.0
    form: Literal["words", "year", "decade"] = "words"
    ordinal: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    word: str
    start: int
    end: int


def find_worded(text: str) -> Iterator[Worded]:
    """Return the numbers in words of a text, in order; linear in its length."""
    for run in _find_runs(text):
        at = 0
        while at < len(run):
            found = _Reader(run, at).read()
            if found is None:
                at += 1
            else:
                worded, at = found
                yield worded


def _find_runs(text: str) -> Iterator[list[_Token]]:
    """Return the longest runs of number words with nothing but a space or hyphen between two."""
    run: list[_Token] = []
    for match in _WORD.finditer(text):
        word = match.group().casefold()
        if run and not (word in _WORDS and _LINK.fullmatch(text, run[-1].end, match.start())):
            yield run
            run = []
        if word in _WORDS:
            run.append(_Token(word, match.start(), match.end()))
    if run:
        yield run


class _Reader:
    """Reads one number from a run, from one place on."""

    def __init__(self, run: list[_Token], at: int) -> None:
        self._run = run
        self._first = at
        self._at = at
        self._ordinal = False

    def read(self) -> tuple[Worded, int] | None:
        """Return the number and where the next may begin, or None where none begins here."""
        if self._peek() == "half" and self._peek(1) in _ARTICLE:
            self._at += 2
            return self._done(0.5, step=0.5)
        if self._peek() in _ARTICLE and self._peek(1) not in {"hundred", "dozen", *_BIG}:
            return None
        group = self._read_group()
        if group is None:
            return None
        if not self._ordinal and (year := self._read_pair(group)):
            return year
        if self._peek() == "point" and self._peek(1) in _UNITS:
            return self._read_decimals(group)
        return self._read_scales(group)

    def _read_scales(self, group: float) -> tuple[Worded, int]:
        """Read on over thousand and million, each smaller than the last."""
        total, last, step = 0.0, float("inf"), 1.0
        while not self._ordinal:
            word = self._peek()
            if word == "dozen":
                self._at += 1
                return self._done(total + group * 12, step=12.0)
            scale = _BIG.get(word)
            if scale is None or scale >= last:
                break
            self._at += 1
            total, last, step, group = total + group * scale, scale, scale, 0
            more = self._read_rest(scale)
            if more is None:
                break
            group, step = more, 1.0
        return self._done(total + group, step=step)

    def _read_rest(self, scale: float) -> float | None:
        """Read the group after a scale, if it belongs to the same number: "and" joins only what is smaller."""
        back = self._at
        if self._peek() == "and":
            self._at += 1
        group = self._read_group() if self._peek() not in _ARTICLE else None
        joined = back < self._at and self._run[back].word == "and"
        if group is None or (joined and _BIG.get(self._peek(), 0) >= scale) or (joined and group >= _HUNDRED):
            self._at, self._ordinal = back, False
            return None
        return group

    def _read_group(self) -> float | None:
        """Read a number below a thousand, or nineteen hundred."""
        value = float(_ARTICLE[self._peek()]) if self._peek() in _ARTICLE else None
        if value is not None:
            self._at += 1
        else:
            value = self._read_below_hundred()
        if value is None or self._ordinal:
            return value
        if self._peek() == "hundredth":
            self._at, self._ordinal = self._at + 1, True
            return value * _HUNDRED
        if self._peek() != "hundred":
            return value
        self._at += 1
        value *= _HUNDRED
        back = self._at
        if self._peek() == "and":
            self._at += 1
        rest = self._read_below_hundred()
        if rest is None or self._peek() == "hundred":
            # "two hundred and three hundred" are two numbers.
            self._at, self._ordinal = back, False
            return value
        return value + rest

    def _read_below_hundred(self) -> float | None:
        word = self._peek()
        for table in (_UNITS, _ORDINALS):
            if word in table:
                self._at += 1
                self._ordinal = table is _ORDINALS
                return float(table[word])
        if word not in _TENFOLD:
            return None
        self._at += 1
        following = self._peek()
        for table in (_UNITS, _ORDINALS):
            if 0 < table.get(following, 0) < 10:  # noqa: PLR2004 - the digits
                self._at += 1
                self._ordinal = table is _ORDINALS
                return float(_TENFOLD[word] + table[following])
        return float(_TENFOLD[word])

    def _read_pair(self, first: float) -> tuple[Worded, int] | None:
        """Read the second half of a year: nineteen thirteen, eighteen oh five, nineteen seventies."""
        if not _FIRST_YEAR_PAIR <= first <= _LAST_YEAR_PAIR:
            return None
        back, word = self._at, self._peek()
        if word in _DECADES:
            self._at += 1
            return self._done(first * _HUNDRED + _DECADES[word], form="decade")
        if word == "oh" and self._peek(1) in _UNITS:
            self._at += 1
        elif _UNITS.get(word, _TENFOLD.get(word, 0)) < _FIRST_YEAR_PAIR:
            return None
        second = self._read_below_hundred()
        if second is None or self._ordinal or self._peek() in {"hundred", "dozen", *_BIG}:
            self._at, self._ordinal = back, False
            return None
        return self._done(first * _HUNDRED + second, form="year")

    def _read_decimals(self, whole: float) -> tuple[Worded, int]:
        digits = ""
        self._at += 1
        while self._peek() in _UNITS and _UNITS[self._peek()] < 10 and len(digits) < 6:  # noqa: PLR2004 - digits, and few
            digits += str(_UNITS[self._peek()])
            self._at += 1
        return self._done(float(f"{whole:.0f}.{digits or 0}"), step=10.0 ** -len(digits))

    def _done(
        self, value: float, *, step: float = 1.0, form: Literal["words", "year", "decade"] = "words"
    ) -> tuple[Worded, int]:
        start, end = self._run[self._first].start, self._run[self._at - 1].end
        return Worded(start, end, value, step, form, self._ordinal), self._at

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._run[at].word if at < len(self._run) else ""
