"""Answers whose truth is known: what the verdicts are measured on.

In: nothing. Out: `Answer`, a draft with its claims, the reference that it is held against and, for each statement,
whether it is true and what the truth is. Apart from the data sets, which all come out as this, and from the trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from proxy.claims.claim import Claim, Sentence

Label = Literal["true", "false", "open"]
"""What people found: `open` is neither, the evidence does not tell."""
Kind = Literal["one subject", "mixed subjects", "wikibio"]
"""Where an answer comes from."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of an answer with its claims: what is edited, or left alone, as a whole."""

    source: str
    """What it was drawn from; statements of one source are not independent of each other."""
    sentence: Sentence
    claims: tuple[Claim, ...]
    label: Label
    evidence: tuple[str, ...]
    """Sentences of the reference that say what is true instead, the nearest ones first."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A draft and all that is known of it."""

    kind: Kind
    text: str
    statements: tuple[Statement, ...]
    reference: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many statements it has."""
        return len(self.statements)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """All its claims, in order."""
        return tuple(claim for statement in self.statements for claim in statement.claims)


def place_sentences(text: str, sentences: Sequence[str]) -> list[Sentence]:
    """Return the places of some sentences in the text that they stand in, in order.

    Raises:
        ValueError: one does not stand where it should.
    """
    placed: list[Sentence] = []
    at = 0
    for index, sentence in enumerate(sentences):
        start = text.index(sentence, at)
        at = start + len(sentence)
        placed.append(Sentence(index, (start, at), sentence))
    return placed


def count_labels(answers: Sequence[Answer]) -> Mapping[Label, int]:
    """Return how many statements carry each label."""
    labels = [statement.label for answer in answers for statement in answer.statements]
    return {label: labels.count(label) for label in ("true", "false", "open")}
