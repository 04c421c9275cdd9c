"""The line and what follows from it: contract, sections 4 and 5, by hand-worked numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import signed
from proxy.claims.claim import Claim, Sentence
from proxy.controls import Rule
from proxy.matching import ScoredClaim, scores_of
from proxy.nli.scoring import score_claim
from proxy.verdict import (
    FLAGS,
    STATUSES,
    Flag,
    Line,
    Ruling,
    Status,
    Threshold,
    Verdict,
    draw_threshold,
    excuse,
    find_doubtful,
    first_flag,
    flag_all,
    is_reference_suspect,
    judge,
    status_of,
    worst_status,
)

PAPERS_SCORES = (0.95, -0.95, 0.95, 0.95, 0.95)


def line(rule: Rule = "bounded", k: float = 0.7, floor: float = 0.5, ceiling: float = 0.9) -> Line:
    return Line(rule, k, floor, ceiling)


def scored(*scores: float) -> list[ScoredClaim]:
    """Return claims with these scores, labelled by their sign."""
    claims = []
    for index, score in enumerate(scores):
        claim = Claim(f"Fact {index}.", Sentence(index, (10 * index, 10 * index + 7), f"Fact {index}."))
        claims.append(ScoredClaim(claim, score_claim(["premise"], [signed(score)])))
    return claims


def unscored() -> ScoredClaim:
    return ScoredClaim(Claim("X.", Sentence(99, (0, 2), "X."), "unresolved"), None)


def decide(*scores: float, by: Line | None = None) -> tuple[Verdict, ...]:
    claims = scored(*scores)
    return judge(claims, draw_threshold(scores_of(claims), by or line()))


def rulings(verdicts: Sequence[Verdict]) -> list[Ruling]:
    return [verdict.ruling for verdict in verdicts]


def test_low_confidence_contradictions() -> None:
    """Doubtful is what the recall contradicts inside the line; not what is beyond it, neutral, or from the context."""
    claims = [*scored(0.95, -0.6, -0.95, 0.0), replace(scored(-0.6)[0], by_context=True), unscored()]
    threshold = Threshold("fixed", 0.7, 0, 0, 0, 0.7, None, 5)
    assert find_doubtful(claims, threshold) == [1]
    assert find_doubtful(claims, replace(threshold, applied=0.6)) == []
    assert find_doubtful([unscored()], None) == []


@pytest.mark.parametrize(("n", "share"), [(2, 0.70), (3, 0.99), (4, 1.11), (5, 1.16)])
def test_why_the_published_line_is_bounded(n: int, share: float) -> None:
    """Among n claims of confidence c with one contradiction, tau is 0.70c, 0.99c, 1.11c, 1.16c (k = 0.7)."""
    c = 0.9
    threshold = draw_threshold([-c] + [c] * (n - 1), line("paper"))
    assert threshold is not None
    assert threshold.tau / c == pytest.approx(share, abs=0.005)
    # mu = c(n-2)/n and sigma = 2c*sqrt(n-1)/n
    assert threshold.tau / c == pytest.approx((n - 2) / n + 0.7 * 2 * math.sqrt(n - 1) / n, abs=1e-12)


def test_the_lone_false_claim() -> None:
    """.95, -.95, .95, .95, .95: tau is 1.102, beyond any score, so that `paper` decides nothing at all."""
    threshold = draw_threshold(PAPERS_SCORES, line("paper"))
    assert threshold is not None
    assert threshold.mu == pytest.approx(0.57)
    assert threshold.sigma == pytest.approx(0.76)
    assert threshold.tau == threshold.applied == pytest.approx(1.102)
    assert rulings(decide(*PAPERS_SCORES, by=line("paper"))) == ["neutral"] * 5
    right = ["accepted", "contradicted", "accepted", "accepted", "accepted"]
    assert rulings(decide(*PAPERS_SCORES, by=line("bounded"))) == right
    assert rulings(decide(*PAPERS_SCORES, by=line("fixed"))) == right


def test_the_contracts_example() -> None:
    """The threshold of contract 4: mu .31, sigma .9051, tau .9436, held at the ceiling."""
    threshold = draw_threshold([-0.97, 0.95, 0.95], line())
    assert threshold is not None
    assert (threshold.mu, threshold.sigma, threshold.tau) == pytest.approx((0.31, 0.9051, 0.9436), abs=5e-5)
    assert replace(threshold, mu=0, sigma=0, tau=0) == Threshold("bounded", 0.7, 0, 0, 0, 0.9, "ceiling", 3)


@pytest.mark.parametrize(
    ("rule", "scores", "applied", "bound"),
    [
        ("bounded", PAPERS_SCORES, 0.9, "ceiling"),
        ("bounded", (-0.9, -0.9), 0.5, "floor"),
        ("bounded", (0.7, 0.7), 0.7, None),
        ("fixed", PAPERS_SCORES, 0.7, None),
        ("fixed", (-0.9, -0.9), 0.7, None),
        ("paper", (-0.9, -0.9), -0.9, None),
        ("paper", (0.7, 0.7), 0.7, None),
    ],
)
def test_what_each_rule_applies(rule: Rule, scores: tuple[float, ...], applied: float, bound: str | None) -> None:
    """`paper` applies tau, `fixed` 0.7, `bounded` tau between floor and ceiling; tau is reported under each."""
    threshold = draw_threshold(scores, line(rule))
    assert threshold is not None
    assert threshold.applied == pytest.approx(applied)
    assert threshold.bound == bound
    assert threshold.tau == pytest.approx(statistics.fmean(scores) + 0.7 * statistics.pstdev(scores))


def test_the_models_own_bounds() -> None:
    """Floor and ceiling are those handed in, and k may be anything from 0 to 5."""
    threshold = draw_threshold([0.9, -0.9], line(k=0, floor=0.6, ceiling=0.8))
    assert threshold is not None
    assert (threshold.tau, threshold.applied, threshold.bound) == (0.0, 0.6, "floor")
    threshold = draw_threshold([0.9, -0.9], line(k=5, floor=0.6, ceiling=0.8))
    assert threshold is not None
    assert threshold.tau == pytest.approx(4.5)
    assert (threshold.applied, threshold.bound) == (0.8, "ceiling")


def test_mostly_negative_scores() -> None:
    """Under `paper` -tau turns positive, so that any claim labelled contradiction is beyond it; bounded it is not."""
    scores = (-0.99, -0.99, -0.99, -0.55)
    assert rulings(decide(*scores, by=line("paper"))) == ["contradicted"] * 4
    assert rulings(decide(*scores, by=line(floor=0.6))) == ["contradicted"] * 3 + ["neutral"]


@pytest.mark.parametrize("scores", [(-0.9,), (-0.5,) * 3])
def test_one_item_and_equal_scores(scores: tuple[float, ...]) -> None:
    """No spread is divided by; a lone contradiction of .9 and several of exactly the floor are beyond it (C42)."""
    threshold = draw_threshold(scores, line())
    assert threshold is not None
    assert (threshold.mu, threshold.sigma, threshold.applied) == pytest.approx((scores[0], 0, 0.5))
    verdicts = decide(*scores)
    assert rulings(verdicts) == ["contradicted"] * len(scores)
    assert not is_reference_suspect(verdicts, threshold, 0.6)


def test_no_scores() -> None:
    """Without a scored claim there is no line (C26, C42), and an unscored claim stays unverifiable."""
    assert draw_threshold([], line()) is None
    (verdict,) = judge([unscored()], None)
    assert (verdict.ruling, verdict.reason, verdict.score) == ("unverifiable", "unresolved", None)


@pytest.mark.parametrize(
    ("score", "ruling"),
    [
        (0.7, "accepted"),
        (0.7 - 1e-10, "accepted"),
        (0.7 - 1e-8, "neutral"),
        (-0.7, "contradicted"),
        (-0.7 + 1e-10, "contradicted"),
        (-0.7 + 1e-8, "neutral"),
        (0.0, "neutral"),
    ],
)
def test_exactly_on_the_line(score: float, ruling: Ruling) -> None:
    """A score on the line counts as beyond it, with a tolerance of 1e-9 (C42)."""
    assert rulings(decide(score, by=line("fixed"))) == [ruling]


def test_neutral_stays_neutral_below_a_negative_line() -> None:
    """The label decides too: s = 0 is no entailment even where tau is negative."""
    verdicts = decide(-0.9, -0.9, 0.0, by=line("paper", k=0))
    assert rulings(verdicts) == ["contradicted", "contradicted", "neutral"]


def test_claims_without_a_score_stay_out_of_the_line() -> None:
    """Contested and unverifiable claims count neither in n nor in mu and sigma."""
    contested = ScoredClaim(
        replace(scored(0.9)[0].claim, unverifiable="contested"),
        score_claim(["one", "other"], [signed(0.7), signed(-0.8)]),
    )
    claims = [*scored(0.9, -0.9), contested, unscored()]
    assert scores_of(claims) == pytest.approx([0.9, -0.9])
    verdicts = judge(claims, draw_threshold(scores_of(claims), line("fixed")))
    assert [(v.ruling, v.reason) for v in verdicts] == [
        ("accepted", None),
        ("contradicted", None),
        ("unverifiable", "contested"),
        ("unverifiable", "unresolved"),
    ]


def test_excuses() -> None:
    """A given text excuses a contradicted claim, a user's premise only keeps it from being edited; no other moves."""
    verdicts = decide(-0.9, -0.9, -0.9, 0.9, by=line("fixed"))
    excused = excuse(verdicts, {0: "given", 1: "user", 2: None, 3: "given"})
    assert [(v.ruling, v.reason) for v in excused] == [
        ("neutral", "in_context"),
        ("contradicted", "user_premise"),
        ("contradicted", None),
        ("accepted", None),
    ]
    assert [v.score for v in excused] == [v.score for v in verdicts]


@pytest.mark.parametrize(
    ("contradicted", "others", "suspect"),
    [
        (8, 0, True),  # [.99] * 8 of C42
        (3, 2, False),  # 0.6 exactly is not more than 0.6
        (4, 2, True),
        (3, 1, True),
        (3, 0, False),  # fewer than four claims
        (2, 2, False),
    ],
)
def test_a_suspect_reference(contradicted: int, others: int, *, suspect: bool) -> None:
    """From four scored claims on, more than 0.6 of them contradicted casts doubt on the reference."""
    scores = [-0.99] * contradicted + [0.99] * others
    verdicts = decide(*scores, by=line("fixed"))
    assert is_reference_suspect(verdicts, draw_threshold(scores, line()), 0.6) is suspect


def test_claims_in_context_cast_no_doubt() -> None:
    """A claim that the request supports is not counted against the reference, though it stays in n."""
    scores = [-0.99] * 4
    threshold = draw_threshold(scores, line())
    verdicts = excuse(decide(*scores), {0: "given", 1: "given"})
    assert not is_reference_suspect(verdicts, threshold, 0.6)
    assert is_reference_suspect(excuse(decide(*scores), {0: "given"}), threshold, 0.6)
    assert not is_reference_suspect([], None, 0.6)


def verdict(ruling: Ruling, score: float | None, reason: str | None = None) -> Verdict:
    claim = unscored() if score is None else scored(score)[0]
    return Verdict(claim.claim, claim.score, ruling, reason)  # type: ignore[arg-type]  # plain strings for brevity


ACCEPTED, NEUTRAL = verdict("accepted", 0.95), verdict("neutral", 0.0)
WEAK = verdict("neutral", 0.6)
INSIDE = verdict("neutral", -0.6)
IN_CONTEXT = verdict("neutral", -0.95, "in_context")
CONTRADICTED = verdict("contradicted", -0.95, "detect")
CORRECTED = verdict("corrected", -0.95)
UNVERIFIABLE = verdict("unverifiable", None, "unresolved")


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([ACCEPTED, CORRECTED, CONTRADICTED], "flagged"),
        ([ACCEPTED, CORRECTED, NEUTRAL, INSIDE], "corrected"),
        ([CORRECTED], "corrected"),
        ([NEUTRAL, UNVERIFIABLE], "inconclusive"),
        ([IN_CONTEXT], "inconclusive"),
        ([UNVERIFIABLE], "inconclusive"),
        ([WEAK], "inconclusive"),
        ([ACCEPTED, INSIDE], "inconclusive"),
        ([ACCEPTED, NEUTRAL], "partial"),
        ([ACCEPTED, IN_CONTEXT], "partial"),
        ([ACCEPTED, UNVERIFIABLE], "partial"),
        ([ACCEPTED], "verified"),
        ([ACCEPTED, WEAK], "verified"),
    ],
)
def test_status_of_a_choice(verdicts: list[Verdict], status: Status) -> None:
    """The first row of the table that fits (contract, section 4)."""
    assert status_of(verdicts, incomplete=False) == status


def test_an_incomplete_choice_is_at_best_partial() -> None:
    """Where the decomposition was cut, what is missing was not checked (C25)."""
    assert status_of([ACCEPTED], incomplete=True) == "partial"
    assert status_of([NEUTRAL], incomplete=True) == "inconclusive"
    assert status_of([CORRECTED], incomplete=True) == "corrected"


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        (["verified"], "verified"),
        (["verified", "skipped"], "partial"),
        (["skipped", "skipped"], "skipped"),
        (["verified", "skipped", "partial"], "partial"),
        (["skipped", "inconclusive"], "inconclusive"),
        (["corrected", "verified", "inconclusive"], "corrected"),
        (["corrected", "flagged"], "flagged"),
        (["flagged", "unavailable", "verified"], "unavailable"),
    ],
)
def test_status_of_an_answer(statuses: list[Status], worst: Status) -> None:
    """The worst of the choices; what was skipped beside verified text leaves the whole partial."""
    assert worst_status(statuses) == worst


def test_flags() -> None:
    """A flag goes to contradicted claims without a reason; the choice's is the first in the contract's order."""
    verdicts = [ACCEPTED, verdict("contradicted", -0.9, "user_premise"), verdict("contradicted", -0.9)]
    assert first_flag(verdicts) == "user_premise"
    flagged = flag_all(verdicts, "detect")
    assert [v.reason for v in flagged] == [None, "user_premise", "detect"]
    assert first_flag(flagged) == "detect"
    assert flag_all(verdicts, None) == tuple(verdicts)
    assert first_flag([ACCEPTED, CORRECTED, IN_CONTEXT, UNVERIFIABLE]) is None


def test_the_tables_are_whole() -> None:
    """Every status and flag has its place in the order."""
    assert set(STATUSES) == set(get_args(Status))
    assert set(FLAGS) == set(get_args(Flag))


SCORE = st.just(0.0) | st.floats(0.5, 1) | st.floats(-1, -0.5)
LINES = st.builds(Line, st.sampled_from(get_args(Rule)), st.floats(0, 5), st.floats(0.5, 0.7), st.floats(0.7, 0.95))


@settings(deadline=None)
@given(st.lists(SCORE, min_size=1, max_size=64), LINES)
def test_decisions_follow_from_the_numbers(scores: list[float], by: Line) -> None:
    """Every verdict can be reproduced from the reported scores, labels and line, in any order of the claims."""
    claims = scored(*scores)
    threshold = draw_threshold(scores_of(claims), by)
    assert threshold is not None
    assert threshold.n == len(scores)
    assert min(scores) - 1e-9 <= threshold.mu <= max(scores) + 1e-9
    assert 0 <= threshold.sigma <= 1
    if by.rule == "bounded":
        assert by.floor <= threshold.applied <= by.ceiling
    for decided in judge(claims, threshold):
        assert decided.score is not None
        score = decided.score.score
        assert score is not None
        accepted = decided.score.label == "entailment" and score >= threshold.applied - 1e-9
        contradicted = decided.score.label == "contradiction" and score <= -threshold.applied + 1e-9
        assert decided.ruling == ("accepted" if accepted else "contradicted" if contradicted else "neutral")
    assert draw_threshold(scores[::-1], by) == threshold
