"""The values that pass between segmentation, decomposition and the later stages.

In: nothing. Out: `Sentence` (a place in the draft) and `Claim` (one fact said at that place). They stand
apart so that the two decompositions and everything after them share the types without importing each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Span = tuple[int, int]
"""Half-open range of Unicode code points in the draft."""

Unverifiable = Literal[
    "contested", "unresolved", "truncated", "too_long", "too_many", "language", "unsplit"
]  # fmt: skip
"""Why a claim gets no score (contract, section 4)."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the draft: `text == draft[span]`, without list marker, table bar or outer white space."""

    index: int
    span: Span
    text: str
    heading: str | None = None
    """Text of the nearest Markdown heading above, without its marks."""
    quoted: bool = False
    """Inside a block quote: judged, never edited."""
    unverifiable: Unverifiable | None = None
    """Set where the sentence cannot be judged as it stands, whatever it claims."""
    states: bool = True
    """False where it is plainly no claim: it is never split, but says what the next one's pronouns stand for."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One atomic, self-contained statement, anchored to the sentence it came from."""

    text: str
    sentence: Sentence
    unverifiable: Unverifiable | None = None
    """Set where the claim cannot be scored; None for a claim that goes to the NLI model."""


@dataclass(frozen=True, slots=True)
class Claims:
    """All claims of one choice in the order of the draft."""

    items: tuple[Claim, ...]
    dropped: int = 0
    """Claims of the decomposition that could not be anchored to the draft."""
    incomplete: bool = False
    """The decomposition's reply was cut: what is here is whole, but there may have been more."""

    def capped(self, limit: int) -> Claims:
        """Return the same claims, those after the first `limit` marked as too many to be judged."""
        over = (replace(claim, unverifiable=claim.unverifiable or "too_many") for claim in self.items[limit:])
        return replace(self, items=(*self.items[:limit], *over))


def join_claims(parts: Sequence[Claims]) -> Claims:
    """Return the claims of several parts of one draft as one."""
    return Claims(
        tuple(claim for part in parts for claim in part.items),
        sum(part.dropped for part in parts),
        incomplete=any(part.incomplete for part in parts),
    )
