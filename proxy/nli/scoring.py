"""Pairs in, probabilities out, and how a reference is cut into premises. Pure; no runtime."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """What the model reads: does the premise entail the hypothesis?"""

    premise: str
    hypothesis: str


@dataclass(frozen=True, slots=True)
class Probabilities:
    """Softmax over the three labels; sums to 1."""

    entailment: float
    neutral: float
    contradiction: float
