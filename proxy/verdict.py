"""The adaptive threshold and what follows from it: verdicts, flags, statuses (contract, sections 4 and 5). Pure.

In: scored claims, the rule, what the request supports. Out: a `Verdict` a claim and the status of a choice. Every
decision can be reproduced from the numbers reported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from proxy.claims.claim import Claim, Unverifiable
from proxy.controls import Rule
from proxy.matching import ScoredClaim, Support
from proxy.nli.scoring import TOLERANCE, ClaimScore
from proxy.wire import Skipped

FIXED_THRESHOLD: Final = 0.7
"""What `fixed` applies: the fixed line of the paper's baseline."""
LEAST_SUSPECT_CLAIMS: Final = 4
"""From so many scored claims on, a large share contradicted casts doubt on the reference instead."""

Ruling = Literal["accepted", "neutral", "contradicted", "corrected", "unverifiable"]
Status = Literal["unavailable", "flagged", "corrected", "inconclusive", "partial", "verified", "skipped"]
Unavailable = Literal[
    "recall_failed",
    "claims_failed",
    "nli_failed",
    "nli_not_ready",
    "deadline",
    "busy",
    "language",
    "unclear_question",
    "upstream_invalid",
]
Flag = Literal["detect", "correction_failed", "unseen_input", "user_premise", "reference_suspect", "quoted"]
Reason = Skipped | Unavailable | Flag

STATUSES: Final[tuple[Status, ...]] = (
    "unavailable",
    "flagged",
    "corrected",
    "inconclusive",
    "partial",
    "verified",
    "skipped",
)
"""Worst first."""
FLAGS: Final[tuple[Flag, ...]] = (
    "detect",
    "correction_failed",
    "unseen_input",
    "user_premise",
    "reference_suspect",
    "quoted",
)
"""The first that holds for any claim of a choice is the choice's reason."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The line of one choice: mu and sigma of its n scores, tau = mu + k*sigma, and what was applied."""

    rule: Rule
    k: float
    mu: float
    sigma: float
    tau: float
    applied: float
    bound: Literal["floor", "ceiling"] | None
    n: int


@dataclass(frozen=True, slots=True)
class Line:
    """How a threshold is to be drawn."""

    rule: Rule
    k: float
    floor: float
    ceiling: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about one claim."""

    claim: Claim
    score: ClaimScore | None
    ruling: Ruling
    reason: Unverifiable | Flag | Literal["in_context"] | None = None


def draw_threshold(scores: Sequence[float], line: Line) -> Threshold | None:
    """Draw the line from the scores' own distribution; None without scores.

    mu and sigma are those of the population (ddof 0), with exact sums. `bounded` keeps the line between floor and
    ceiling: among n claims of equal confidence c with one contradiction, tau is 0.70c, 0.99c, 1.11c, 1.16c for
    n = 2 to 5 (k = 0.7), so that from four claims on a lone false one could never be corrected, and with mostly
    negative scores -tau turns positive, so that anything labelled contradiction would be.

    Source: the paper's adaptive threshold; contract, section 5.
    """
    n = len(scores)
    if n == 0:
        return None
    mu = math.fsum(scores) / n
    sigma = math.sqrt(math.fsum((score - mu) ** 2 for score in scores) / n)
    tau = mu + line.k * sigma
    bound: Literal["floor", "ceiling"] | None = None
    applied = tau
    if line.rule == "fixed":
        applied = FIXED_THRESHOLD
    elif line.rule == "bounded":
        applied = min(max(tau, line.floor), line.ceiling)
        bound = "floor" if applied > tau else "ceiling" if applied < tau else None
    return Threshold(line.rule, line.k, mu, sigma, tau, applied, bound, n)


def judge(claims: Sequence[ScoredClaim], threshold: Threshold | None) -> tuple[Verdict, ...]:
    """Decide each claim by its own score and the one line of the choice."""
    return tuple(_judge_claim(scored, threshold) for scored in claims)


def _judge_claim(scored: ScoredClaim, threshold: Threshold | None) -> Verdict:
    claim, score = scored.claim, scored.score
    if claim.unverifiable is not None or score is None or score.score is None or threshold is None:
        return Verdict(claim, score, "unverifiable", claim.unverifiable)
    if score.label == "entailment" and score.score >= threshold.applied - TOLERANCE:
        return Verdict(claim, score, "accepted")
    if score.label == "contradiction" and score.score <= -threshold.applied + TOLERANCE:
        return Verdict(claim, score, "contradicted")
    return Verdict(claim, score, "neutral")


def find_doubtful(claims: Sequence[ScoredClaim], threshold: Threshold | None) -> list[int]:
    """Return the positions of low-confidence contradictions: claims that the recall contradicts inside the line."""
    return [
        position
        for position, scored in enumerate(claims)
        if not scored.by_context and _stayed_inside(_judge_claim(scored, threshold))
    ]


def excuse(verdicts: Sequence[Verdict], support: Mapping[int, Support | None]) -> tuple[Verdict, ...]:
    """Let off contradicted claims that the request itself supports.

    An answer faithful to what it was given is right: such a claim becomes neutral. A user's own premise is no
    evidence either way: such a claim stays contradicted and is not to be edited.

    Args:
        verdicts: the choice's verdicts.
        support: by position in `verdicts`, whose text supports the claim.
    """
    return tuple(_excuse_claim(verdict, support.get(position)) for position, verdict in enumerate(verdicts))


def _excuse_claim(verdict: Verdict, support: Support | None) -> Verdict:
    if verdict.ruling != "contradicted" or support is None:
        return verdict
    if support == "given":
        return replace(verdict, ruling="neutral", reason="in_context")
    return replace(verdict, reason="user_premise")


def is_reference_suspect(verdicts: Sequence[Verdict], threshold: Threshold | None, share: float) -> bool:
    """Return whether so many claims are contradicted that the reference is the likelier to be wrong."""
    contradicted = sum(verdict.ruling == "contradicted" for verdict in verdicts)
    n = 0 if threshold is None else threshold.n
    return n >= LEAST_SUSPECT_CLAIMS and contradicted > share * n + TOLERANCE


def status_of(verdicts: Sequence[Verdict], *, incomplete: bool) -> Status:
    """Return the status of a choice whose claims were judged: the first row of the contract's table that fits."""
    rulings = [verdict.ruling for verdict in verdicts]
    if "contradicted" in rulings:
        return "flagged"
    if "corrected" in rulings:
        return "corrected"
    if "accepted" not in rulings or any(_stayed_inside(verdict) for verdict in verdicts):
        return "inconclusive"
    labels = [verdict.score.label if verdict.score is not None else None for verdict in verdicts]
    return "partial" if incomplete or any(label != "entailment" for label in labels) else "verified"


def _stayed_inside(verdict: Verdict) -> bool:
    """Return whether a claim labelled contradiction was not far enough out; one `in_context` counts as neutral."""
    labelled = verdict.score is not None and verdict.score.label == "contradiction"
    return labelled and verdict.ruling == "neutral" and verdict.reason != "in_context"


def worst_status(statuses: Sequence[Status]) -> Status:
    """Return the status of an answer from those of its choices; `skipped` beside `verified` gives `partial`."""
    if set(statuses) == {"skipped", "verified"}:
        return "partial"
    return min(statuses, key=STATUSES.index)


def flag_all(verdicts: Sequence[Verdict], flag: Flag | None) -> tuple[Verdict, ...]:
    """Say of every contradicted claim that has no reason yet why it is not edited."""
    return tuple(
        replace(verdict, reason=flag) if verdict.ruling == "contradicted" and verdict.reason is None else verdict
        for verdict in verdicts
    )


def first_flag(verdicts: Sequence[Verdict]) -> Flag | None:
    """Return the reason of a flagged choice."""
    reasons = {verdict.reason for verdict in verdicts if verdict.ruling == "contradicted"}
    return next((flag for flag in FLAGS if flag in reasons), None)
