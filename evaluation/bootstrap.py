"""Percentile bootstrap over clusters.

In: units that are independent of each other (documents, distinct claims), each with whatever was counted in it, and a
statistic of a list of units. Out: the statistic with its interval. Units are drawn whole, with replacement, so that
what hangs together within one never makes an interval look narrower than it is. Always with the same result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np

ROUNDS: Final = 2000
LEVEL: Final = 0.95
"""Share of the resampled values that lies within an interval."""

Unit = TypeVar("Unit")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured value and its interval; all NaN where there was nothing to measure."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        """Return it as a table shows it."""
        if math.isnan(self.value):
            return "-"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def bootstrap_interval(
    statistic: Callable[[Sequence[Unit]], float], units: Sequence[Unit], *, rounds: int = ROUNDS, seed: int = 0
) -> tuple[float, float]:
    """Return the 95 % percentile interval of a statistic over resampled units.

    Args:
        statistic: of a list of units; NaN where they hold nothing to measure, and such a resample does not count.
        units: independent of each other.
        rounds: how often the units are drawn.
        seed: of the generator.

    Returns:
        Both ends, inclusive; NaN where there are no units, or no resample has a value.
    """
    if not units:
        return math.nan, math.nan
    draws = np.random.default_rng(seed).integers(len(units), size=(rounds, len(units)))
    return _cut_interval(np.array([statistic([units[at] for at in draw]) for draw in draws], dtype=float))


def estimate(
    statistic: Callable[[Sequence[Unit]], float], units: Sequence[Unit], *, rounds: int = ROUNDS, seed: int = 0
) -> Estimate:
    """Return a statistic of the units with its interval; see `bootstrap_interval`."""
    value = statistic(units) if units else math.nan
    return Estimate(value, *bootstrap_interval(statistic, units, rounds=rounds, seed=seed))


def estimate_share(hits: Sequence[float], totals: Sequence[float], *, rounds: int = ROUNDS, seed: int = 0) -> Estimate:
    """Return the share of all hits in all totals, with its interval; the same as `estimate` of it, but fast.

    Args:
        hits: how many there were in each unit.
        totals: out of how many, in the same order.
        rounds: how often the units are drawn.
        seed: of the generator.
    """
    counts = np.array([hits, totals], dtype=float)
    if not counts[1].sum():
        return Estimate(math.nan, math.nan, math.nan)
    size = counts.shape[1]
    draws = np.random.default_rng(seed).integers(size, size=(rounds, size))
    drawn = counts[:, draws].sum(axis=2)
    with np.errstate(invalid="ignore"):
        shares = drawn[0] / drawn[1]
    value = counts[0].sum() / counts[1].sum()
    return Estimate(float(value), *_cut_interval(shares))


def _cut_interval(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    """Return the ends between which `LEVEL` of the values lies, those that are NaN aside."""
    measured = values[~np.isnan(values)]
    if not measured.size:
        return math.nan, math.nan
    low, high = np.quantile(measured, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)
