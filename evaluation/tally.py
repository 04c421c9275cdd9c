"""What happened to many statements, counted: the figures of one row.

In: outcomes. Out: `Figures` with intervals. Statements of one source hang together, a claim that stands in several
answers or the sentences of one passage, so that the intervals come from drawing whole sources.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.bootstrap import Estimate, estimate_share
from evaluation.trial import Outcome

Test = Callable[[Outcome], bool]


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of some outcomes; each an estimate with its interval."""

    statements: int
    sources: int
    """Distinct ones."""
    base_rate: Estimate
    """False statements of all."""
    found: Estimate
    """False statements marked for editing, of all false ones."""
    precision: Estimate
    """False statements of all that were marked and are known to be true or false."""
    strict_precision: Estimate
    """The same, but an open one marked counts as wrong."""
    harm: Estimate
    """True statements marked for editing, of all true ones."""
    open_marked: Estimate
    """Open statements marked for editing, of all open ones."""
    made_true: Estimate
    """False statements replaced by the evidence after every check, of all false ones."""


def count_outcomes(outcomes: Sequence[Outcome]) -> Figures:
    """Count some outcomes."""
    by_source: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_source.setdefault(outcome.source, []).append(outcome)

    def share(hit: Test, of: Test) -> Estimate:
        totals = [[outcome for outcome in group if of(outcome)] for group in by_source.values()]
        hits = [sum(hit(outcome) for outcome in group) for group in totals]
        return estimate_share(hits, [len(group) for group in totals])

    return Figures(
        statements=len(outcomes),
        sources=len(by_source),
        base_rate=share(_is_false, lambda _: True),
        found=share(lambda outcome: outcome.marked, _is_false),
        precision=share(_is_false, lambda outcome: outcome.marked and outcome.label != "open"),
        strict_precision=share(_is_false, lambda outcome: outcome.marked),
        harm=share(lambda outcome: outcome.marked, lambda outcome: outcome.label == "true"),
        open_marked=share(lambda outcome: outcome.marked, lambda outcome: outcome.label == "open"),
        made_true=share(lambda outcome: outcome.rewritten, _is_false),
    )


def _is_false(outcome: Outcome) -> bool:
    return outcome.label == "false"
