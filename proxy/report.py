"""The `verification` object: everything that was decided, so that each decision can be reproduced (contract, 4).

In: the results of the choices. Out: plain data for JSON. Apart from the pipeline because its names and nulls are the
public contract, and nothing else is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from proxy.controls import Controls
from proxy.reassembly import AppliedEdit
from proxy.verdict import Reason, Status, Threshold, Verdict, worst_status
from proxy.wire import Choice

VERSION: Final = 1
_RULINGS: Final = ("accepted", "neutral", "contradicted", "corrected", "unverifiable")


@dataclass(frozen=True, slots=True)
class ChoiceResult:
    """What became of one choice."""

    choice: Choice
    status: Status
    reason: Reason | None = None
    threshold: Threshold | None = None
    verdicts: tuple[Verdict, ...] = ()
    edits: tuple[AppliedEdit, ...] = ()
    parts: tuple[str, ...] = ()
    """The new text parts where there are edits."""
    dropped: int = 0

    def describe(self, detail: str) -> dict[str, Any]:
        """Return the choice's entry of the report."""
        rulings = Counter(verdict.ruling for verdict in self.verdicts)
        entry: dict[str, Any] = {
            "index": self.choice.index,
            "status": self.status,
            "reason": self.reason,
            "threshold": None if self.threshold is None else asdict(self.threshold),
            "claims": [self._describe_claim(verdict, detail) for verdict in self.verdicts],
            "edits": [asdict(edit) for edit in self.edits],
            "counts": {name: rulings[name] for name in _RULINGS} | {"dropped": self.dropped},
        }
        if self.edits and self.choice.has_logprobs:
            entry["logprobs_dropped"] = True
        if detail == "full":
            entry["draft"] = self.choice.text
        return entry

    def _describe_claim(self, verdict: Verdict, detail: str) -> dict[str, Any]:
        score, span = verdict.score, verdict.claim.sentence.span
        entry: dict[str, Any] = {
            "text": verdict.claim.text,
            "span": span,
            "label": score.label if score else None,
            "score": score.score if score else None,
            "verdict": verdict.ruling,
            "reason": verdict.reason,
            "edit": None,
        }
        if verdict.ruling == "corrected":
            entry["edit"] = [edit.draft_span for edit in self.edits].index(span)
        if detail == "full":
            entry["probabilities"] = asdict(score.probabilities) if score and score.probabilities else None
            entry["premise"] = score.premise if score else None
        return entry


def write_report(
    results: Sequence[ChoiceResult], controls: Controls, reference: Sequence[Sequence[str]], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the whole object.

    Args:
        results: one a choice, in their order.
        controls: what was asked for.
        reference: the sentences of each recall, reported with `detail: full`.
        facts: `id`, `models`, `usage` and `timings_ms`.
    """
    status = worst_status([result.status for result in results])
    reason = next((result.reason for result in results if result.status == status), None)
    report = {
        "version": VERSION,
        "id": facts["id"],
        "mode": controls.mode,
        "status": status,
        "reason": reason,
        "choices": [result.describe(controls.detail) for result in results],
        "models": facts["models"],
        "usage": facts["usage"],
        "timings_ms": facts["timings_ms"],
    }
    if controls.detail == "full":
        report["reference"] = "\n\n".join(" ".join(sentences) for sentences in reference) or None
    return report
