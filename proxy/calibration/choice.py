"""Which line to draw: k, floor and ceiling chosen by what they find and what they spoil. Pure.

In: scored claims with labels, and an aim: a precision to be reached, or what a wrong edit costs beside a missed one.
Out: a `TradeOff` for every line tried, and the one chosen. Lines are drawn and claims judged by the product's own rule.
Intervals are Wilson's: a bootstrap would call ten right edits of ten a certainty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from proxy.calibration.examples import Label
from proxy.matching import ScoredClaim, scores_of
from proxy.verdict import Line, draw_threshold, is_reference_suspect, judge

KS: Final = (0.0, 0.3, 0.5, 0.7, 1.0, 1.5)
LEVELS: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99)
"""Floors and ceilings that are tried; close together where most models' probabilities are."""
FOLDS: Final = 5
_Z: Final = 1.959964
"""Standard deviations that a 95 % interval reaches out."""


@dataclass(frozen=True, slots=True)
class ScoredExample:
    """One answer's claims, scored, and their labels in the same order."""

    claims: tuple[ScoredClaim, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class Share:
    """A share as it was counted, and how far the truth may be from it."""

    hits: int
    total: int

    @property
    def value(self) -> float:
        """The share; NaN of nothing."""
        return self.hits / self.total if self.total else math.nan

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return max(0.0, self._centre - self._reach)

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return min(1.0, self._centre + self._reach)

    @property
    def _centre(self) -> float:
        return (self.hits + _Z**2 / 2) / (self.total + _Z**2)

    @property
    def _reach(self) -> float:
        """Half the width of Wilson's score interval; of nothing it is the whole range."""
        spread = self.hits * (self.total - self.hits) / self.total if self.total else 0.0
        return _Z * math.sqrt(spread + _Z**2 / 4) / (self.total + _Z**2)


@dataclass(frozen=True, slots=True)
class TradeOff:
    """What one line does to the examples, counted in claims."""

    line: Line
    right: int
    """False ones edited."""
    wrong: int
    """True or open ones edited."""
    missed: int
    """False ones left."""
    spared: int
    """True or open ones left."""

    @property
    def precision(self) -> Share:
        """Right edits of all."""
        return Share(self.right, self.right + self.wrong)

    @property
    def found(self) -> Share:
        """False claims edited, of all false ones."""
        return Share(self.right, self.right + self.missed)

    @property
    def harm(self) -> Share:
        """True and open claims edited, of all of them."""
        return Share(self.wrong, self.wrong + self.spared)


@dataclass(frozen=True, slots=True)
class PrecisionAim:
    """Find as many false claims as possible with so many of the edits right."""

    target: float

    def choose(self, tried: Sequence[TradeOff]) -> TradeOff | None:
        """Return the line that finds most; one that the interval assures of the target comes before any other."""
        reaching = [one for one in tried if one.right and one.precision.value >= self.target]
        assured = [one for one in reaching if self.is_assured(one)]
        return max(assured or reaching, key=lambda one: (one.right, -one.wrong), default=None)

    def is_assured(self, chosen: TradeOff) -> bool:
        """Return whether the interval as a whole reaches the target."""
        return chosen.precision.low >= self.target


@dataclass(frozen=True, slots=True)
class CostAim:
    """Make the whole cost least, where a wrong edit costs `ratio` times what a missed false claim does."""

    ratio: float

    def choose(self, tried: Sequence[TradeOff]) -> TradeOff | None:
        """Return the cheapest line."""
        return min(tried, key=lambda one: (self.ratio * one.wrong + one.missed, one.wrong), default=None)


Aim = PrecisionAim | CostAim


@dataclass(frozen=True)
class Survey:
    """Every line tried on every example."""

    lines: tuple[Line, ...]
    counts: NDArray[np.int64]
    """Right, wrong, missed and spared claims: (lines, examples, 4)."""

    def weigh(self, examples: NDArray[np.bool_] | None = None) -> list[TradeOff]:
        """Return what each line does to all examples, or to those marked."""
        counts = self.counts if examples is None else self.counts[:, examples]
        return [TradeOff(line, *map(int, row)) for line, row in zip(self.lines, counts.sum(axis=1), strict=True)]

    def hold_out(self, aim: Aim) -> TradeOff:
        """Return what choosing comes to on examples that were not chosen by: each fold by the line of the others.

        The line of the result is the one in use, since every fold has its own. A fold for which no line would be chosen
        is left as it is; so is a lone example.
        """
        size = self.counts.shape[1]
        folds = np.arange(size) % min(FOLDS, size)
        total = np.zeros(4, dtype=np.int64)
        for fold in range(min(FOLDS, size)):
            chosen = aim.choose(self.weigh(folds != fold))
            held = self.counts[:, folds == fold].sum(axis=1)
            right, wrong, missed, spared = held[0 if chosen is None else self.lines.index(chosen.line)]
            total += (right, wrong, missed, spared) if chosen else (0, 0, right + missed, wrong + spared)
        return TradeOff(self.lines[0], *map(int, total))


def survey_lines(examples: Sequence[ScoredExample], now: Line, flag_share: float) -> Survey:
    """Try every line on every example.

    Args:
        examples: the user's, scored.
        now: the line in use; it is tried first, and others in the order of their distance from it, so that of equal
            ones the nearest is chosen.
        flag_share: share of contradicted claims over which nothing of an answer is edited.
    """
    lines = tuple(dict.fromkeys([now, *sorted(_list_lines(), key=lambda line: _distance(line, now))]))
    counts = [[_count(example, line, flag_share) for example in examples] for line in lines]
    return Survey(lines, np.array(counts, dtype=np.int64).reshape(len(lines), len(examples), 4))


def find_frontier(tried: Sequence[TradeOff]) -> list[TradeOff]:
    """Return the lines that no other beats in both right and wrong edits, those that find most first."""
    frontier: list[TradeOff] = []
    for one in sorted(tried, key=lambda one: (-one.right, one.wrong)):
        if one.right and (not frontier or one.wrong < frontier[-1].wrong):
            frontier.append(one)
    return frontier


def _list_lines() -> list[Line]:
    return [
        Line("bounded", k, floor, ceiling) for k in KS for floor in LEVELS for ceiling in LEVELS if floor <= ceiling
    ]


def _distance(line: Line, other: Line) -> float:
    return abs(line.k - other.k) + abs(line.floor - other.floor) + abs(line.ceiling - other.ceiling)


def _count(example: ScoredExample, line: Line, flag_share: float) -> tuple[int, int, int, int]:
    """Count one answer's claims: right, wrong, missed, spared."""
    threshold = draw_threshold(scores_of(example.claims), line)
    verdicts = judge(example.claims, threshold)
    suspect = is_reference_suspect(verdicts, threshold, flag_share)
    edited = [verdict.ruling == "contradicted" and not suspect for verdict in verdicts]
    false = [label == "false" for label in example.labels]
    pairs = list(zip(false, edited, strict=True))
    return (
        pairs.count((True, True)),
        pairs.count((False, True)),
        pairs.count((True, False)),
        pairs.count((False, False)),
    )
