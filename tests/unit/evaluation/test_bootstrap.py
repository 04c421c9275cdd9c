"""Intervals: right where the right ones are known, and never narrower than the clusters allow."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.bootstrap import Estimate, bootstrap_interval, estimate, estimate_share

COUNTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)).map(lambda pair: (min(pair), max(pair))), max_size=12)


def mean(units: Sequence[float]) -> float:
    return sum(units) / len(units)


def share(units: Sequence[tuple[int, int]]) -> float:
    total = sum(of for _, of in units)
    return sum(hits for hits, _ in units) / total if total else math.nan


def test_interval_of_a_mean() -> None:
    """For many units it is the normal interval: mean 0.5, standard error 0.5 / sqrt(400) = 0.025."""
    low, high = bootstrap_interval(mean, [0.0, 1.0] * 200)
    assert low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.006)
    assert high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.006)


def test_same_seed_same_interval() -> None:
    """A figure can be repeated."""
    units = [float(n) for n in range(20)]
    assert bootstrap_interval(mean, units) == bootstrap_interval(mean, units)
    assert bootstrap_interval(mean, units) != bootstrap_interval(mean, units, seed=1)


def test_clusters_widen_the_interval() -> None:
    """Ten documents that are each all right or all wrong say less than a hundred separate sentences."""
    low, high = estimate_share([10, 0] * 5, [10] * 10).low, estimate_share([10, 0] * 5, [10] * 10).high
    single = estimate_share([1, 0] * 50, [1] * 100)
    assert high - low > 2 * (single.high - single.low)


@given(counts=COUNTS)
def test_share_is_the_statistic_of_shares(counts: list[tuple[int, int]]) -> None:
    """The fast way gives what the general one gives, and the value lies in [0, 1]."""
    fast = estimate_share([hits for hits, _ in counts], [of for _, of in counts], rounds=50)
    slow = estimate(share, counts, rounds=50)
    assert (fast.value, fast.low, fast.high) == pytest.approx((slow.value, slow.low, slow.high), nan_ok=True)
    assert math.isnan(fast.value) or 0 <= fast.low <= fast.high <= 1


def test_nothing_to_measure() -> None:
    """No units, or units that hold nothing, give no figure and no warning."""
    assert all(map(math.isnan, bootstrap_interval(mean, [])))
    assert str(estimate_share([0, 0], [0, 0])) == str(estimate(share, [])) == "-"


def test_estimate_as_text() -> None:
    """A table shows the value with both ends."""
    assert str(Estimate(0.5, 0.25, 2 / 3)) == "0.500 [0.250, 0.667]"
