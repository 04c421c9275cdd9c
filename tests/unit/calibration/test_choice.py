"""The choice of a line: counts by the product's rule, intervals, aims, and what is held out."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import signed
from proxy.calibration.choice import (
    CostAim,
    PrecisionAim,
    ScoredExample,
    Share,
    TradeOff,
    find_frontier,
    survey_lines,
)
from proxy.calibration.examples import Label
from proxy.claims.claim import Claim, Sentence
from proxy.matching import ScoredClaim
from proxy.nli.scoring import score_claim
from proxy.verdict import Line

NOW = Line("bounded", 0.7, 0.5, 0.9)


def example(*claims: tuple[float, Label]) -> ScoredExample:
    """Return an answer of claims with these scores and labels."""
    scored = [
        ScoredClaim(Claim("claim", Sentence(at, (0, 5), "claim")), score_claim(["premise"], [signed(score)]))
        for at, (score, _) in enumerate(claims)
    ]
    return ScoredExample(tuple(scored), tuple(label for _, label in claims))


def counts(one: TradeOff) -> tuple[int, int, int, int]:
    return one.right, one.wrong, one.missed, one.spared


def trade(right: int, wrong: int, missed: int = 0, spared: int = 100, *, k: float = 0.7) -> TradeOff:
    return TradeOff(Line("bounded", k, 0.5, 0.9), right, wrong, missed, spared)


def test_claims_are_counted_by_the_rule() -> None:
    """With .9 for three claims and -.95, -.8 for two, the line in use is at mu + .7 sigma = .85: one edit of two."""
    answer = example((0.9, "true"), (0.9, "true"), (0.9, "open"), (-0.95, "false"), (-0.8, "false"))
    mu = (3 * 0.9 - 0.95 - 0.8) / 5
    sigma = math.sqrt((3 * (0.9 - mu) ** 2 + (-0.95 - mu) ** 2 + (-0.8 - mu) ** 2) / 5)
    assert mu + 0.7 * sigma == pytest.approx(0.8, abs=0.05)
    applied = min(max(mu + 0.7 * sigma, 0.5), 0.9)
    right = sum(score <= -applied for score in (-0.95, -0.8))
    assert counts(survey_lines([answer], NOW, 0.6).weigh()[0]) == (right, 0, 2 - right, 3)


def test_true_and_open_claims_edited_are_wrong() -> None:
    """Where the reference is silent nothing is to be edited either."""
    answers = [example((-0.95, label)) for label in ("true", "open", "false")]
    assert counts(survey_lines(answers, NOW, 0.6).weigh()[0]) == (1, 2, 0, 0)


def test_a_suspect_reference_edits_nothing() -> None:
    """With more than the share contradicted the proxy edits nothing, and so it is counted."""
    answer = example((-0.95, "false"), (-0.95, "false"), (-0.95, "false"), (0.9, "true"))
    assert counts(survey_lines([answer], NOW, 0.6).weigh()[0]) == (0, 0, 3, 1)
    assert counts(survey_lines([answer], NOW, 0.8).weigh()[0])[2] == 0


@pytest.mark.parametrize(
    ("hits", "total", "low", "high"),
    [(10, 10, 0.7225, 1.0), (0, 10, 0.0, 0.2775), (8, 10, 0.4902, 0.9433), (50, 100, 0.4038, 0.5962), (0, 0, 0.0, 1.0)],
)
def test_wilsons_interval(hits: int, total: int, low: float, high: float) -> None:
    """Known values; ten of ten is no certainty, and of nothing anything may be true."""
    assert (Share(hits, total).low, Share(hits, total).high) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 400).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_an_interval_holds_its_share(counted: tuple[int, int]) -> None:
    """The ends lie on both sides of the share, within 0 and 1."""
    share = Share(*counted)
    assert 0 <= share.low <= share.value + 1e-12
    assert share.value - 1e-12 <= share.high <= 1


def test_precision_aim() -> None:
    """Of the lines that reach the target the one that finds most counts, an assured one before all others."""
    many, few, wrong = trade(90, 1, 30), trade(100, 4, 20), trade(110, 30, 10)
    aim = PrecisionAim(0.95)
    assert many.precision.low < 0.95 <= many.precision.value
    assert aim.choose([wrong, many, few]) == few
    assured = trade(80, 0, 40)
    assert assured.precision.low >= 0.95
    assert aim.is_assured(assured)
    assert not aim.is_assured(few)
    assert aim.choose([wrong, many, few, assured]) == assured
    assert aim.choose([wrong]) is None
    assert aim.choose([trade(0, 0, 120)]) is None, "no edit is no precision"


def test_cost_aim() -> None:
    """A dear wrong edit leads to fewer edits, a cheap one to more."""
    bold, careful = trade(60, 10, 40), trade(40, 1, 60)
    assert CostAim(1).choose([careful, bold]) == bold  # 10 + 40 beside 1 + 60
    assert CostAim(5).choose([bold, careful]) == careful  # 50 + 40 beside 5 + 60


def test_of_equal_lines_the_nearest_to_the_one_in_use() -> None:
    """Nothing is changed without a reason."""
    survey = survey_lines([example((-0.995, "false")), example((0.995, "true"))] * 40, NOW, 0.6)
    assert PrecisionAim(0.9).choose(survey.weigh()) == survey.weigh()[0]
    assert survey.lines[0] == NOW
    assert len(set(survey.lines)) == len(survey.lines)
    assert all(line.floor <= line.ceiling for line in survey.lines)


def test_the_frontier() -> None:
    """A line that another beats in one count and equals in the other is no part of it."""
    best = [trade(9, 5), trade(7, 2), trade(3, 0)]
    beaten = [trade(9, 6), trade(6, 2), trade(2, 0), trade(0, 0)]
    assert find_frontier([*beaten, *best]) == best


def test_held_out_counts_what_the_choice_did_not_see() -> None:
    """A line that suits all but one fold is judged on that fold too, so that it looks no better than it is."""
    good = example((-0.99, "false"))
    bad = example((-0.99, "true"))
    survey = survey_lines([good, good, good, good, bad], NOW, 0.6)
    # Without the last example every line is faultless, with it none reaches the target.
    assert PrecisionAim(0.9).choose(survey.weigh()) is None
    assert counts(survey.hold_out(PrecisionAim(0.9))) == (0, 1, 4, 0)
    assert counts(survey_lines([good], NOW, 0.6).hold_out(PrecisionAim(0.9))) == (0, 0, 1, 0)


SCORES = st.sampled_from([-0.99, -0.94, -0.86, -0.7, -0.55, 0.0, 0.6, 0.95])
ANSWERS = st.lists(
    st.lists(st.tuples(SCORES, st.sampled_from(["true", "false", "open"])), min_size=1, max_size=5),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=10)
@given(ANSWERS)
def test_every_claim_is_counted_once(answers: Sequence[Sequence[tuple[float, Label]]]) -> None:
    """Whatever the line, the four counts add up to the claims, and those held out to the same."""
    survey = survey_lines([example(*claims) for claims in answers], NOW, 0.6)
    size = sum(map(len, answers))
    false = sum(label == "false" for claims in answers for _, label in claims)
    for one in survey.weigh():
        assert sum(counts(one)) == size
        assert one.right + one.missed == false
    assert sum(counts(survey.hold_out(CostAim(2)))) == size
    assert survey.counts.dtype == np.int64
