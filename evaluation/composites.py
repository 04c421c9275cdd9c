"""Answers composed from FEVER's claims: some true, a known share false, a few that the evidence leaves open.

In: `fever_1000.jsonl`, a claim with its label and evidence sentences a line. Out: `Answer`s of 2 to 8 claims, whose
reference is the evidence of all their claims together. Half of them take their claims from one page, as an answer
about one subject does, so that the evidence of one claim speaks of its neighbours too; half from any pages.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from evaluation.answers import Answer, Kind, Label, Statement, place_sentences
from proxy.claims.claim import Claim
from proxy.wording import find_nearest

SIZES: Final = range(2, 9)
"""Claims of an answer."""
OPEN_SHARE: Final = 0.1
"""Part of the claims that the evidence leaves open."""
_LABELS: Final[dict[str, Label]] = {"SUPPORTS": "true", "REFUTES": "false", "NOT ENOUGH INFO": "open"}


@dataclass(frozen=True, slots=True)
class FeverClaim:
    """One labelled claim."""

    id: str
    text: str
    label: Label
    evidence: tuple[str, ...]
    page: str


def read_fever(file: Path) -> list[FeverClaim]:
    """Read the claims of a file; raises what a missing or other file raises."""
    rows = [json.loads(line) for line in file.read_bytes().splitlines()]
    return [
        FeverClaim(str(row["id"]), row["claim"], _LABELS[row["label"]], tuple(row["evidence"]), row["pages"][0])
        for row in rows
    ]


def compose_answers(claims: Sequence[FeverClaim], *, a_size: int, false_share: float, seed: int) -> list[Answer]:
    """Compose `a_size` answers of each size and kind, sizes in turn, so that any first few hold all sizes.

    Every claim of an answer is drawn false, open or true by itself, so that answers without any false claim, with one
    and with several come as often as chance has it. Always with the same result for the same seed.
    """
    chance = random.Random(seed)  # noqa: S311  # a sample, no secret
    pages: dict[str, list[FeverClaim]] = {}
    for claim in claims:
        pages.setdefault(claim.page, []).append(claim)
    shares: dict[Label, float] = {"false": false_share, "open": OPEN_SHARE, "true": 1 - OPEN_SHARE - false_share}
    answers = []
    for _ in range(a_size):
        for size in SIZES:
            labels = Counter(chance.choices([*shares], [*shares.values()], k=size))
            fitting = [page for page in pages.values() if labels <= Counter(claim.label for claim in page)]
            if fitting:
                page = chance.choices(fitting, [len(page) for page in fitting])[0]
                answers.append(_compose("one subject", _draw(page, labels, chance)))
            answers.append(_compose("mixed subjects", _draw(claims, labels, chance)))
    return answers


def _draw(claims: Sequence[FeverClaim], labels: Counter[Label], chance: random.Random) -> list[FeverClaim]:
    """Draw as many claims of each label as wanted, none twice, in any order."""
    drawn = [
        claim
        for label, count in labels.items()
        for claim in chance.sample([claim for claim in claims if claim.label == label], count)
    ]
    chance.shuffle(drawn)
    return drawn


def _compose(kind: Kind, claims: Sequence[FeverClaim]) -> Answer:
    text = " ".join(claim.text for claim in claims)
    sentences = place_sentences(text, [claim.text for claim in claims])
    statements = tuple(
        Statement(claim.id, sentence, (Claim(claim.text, sentence),), claim.label, _rank_evidence(claim))
        for claim, sentence in zip(claims, sentences, strict=True)
    )
    return Answer(kind, text, statements, tuple(dict.fromkeys(fact for claim in claims for fact in claim.evidence)))


def _rank_evidence(claim: FeverClaim) -> tuple[str, ...]:
    return tuple(claim.evidence[at] for at in find_nearest(claim.text, claim.evidence, len(claim.evidence)))
