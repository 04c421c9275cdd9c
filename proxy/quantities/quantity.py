"""The value that reading gives and comparing takes: a stated amount, date or rank with its place in the text.

In: nothing. Out: `Quantity`, and how two of them relate. Every quantity is an interval on the scale of its kind, for
"1913", "the 1970s", "over 300 m" and "between 3 and 5" all leave something open, and rounding leaves more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

Span = tuple[int, int]
"""Half-open range of Unicode code points."""
Relation = Literal["equal", "within", "overlap", "apart"]
"""How another quantity lies to this one: the same, inside it, partly inside or more vague, or outside."""

ROUNDING_SHARE: Final = 0.05
"""Part of a value that its rounding may hide at most: "2 million" is not said of 1.6 million."""
SMALLEST_SURE: Final = 13
"""A number below it, with nothing counted behind, may be anybody's: "the two", "one of them"."""
MOST_UNLIKE: Final = 10.0
COUNTED: Final = frozenset({"count", "ordinal", "label"})
"""Kinds whose unit is what is counted or ranked, so that two speak of the same only where their words do."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """One stated quantity, in the base unit of its kind."""

    kind: str
    """`date` (days on an even calendar), `day` (of any year), `clock`, `share` (percent), `count`, `ordinal`, `label`
    (a number in a name), a dimension as `length`, or a currency as `money $`."""
    low: float
    high: float
    """The stated value, both the same unless an interval is stated."""
    span: Span
    """Where number and unit stand."""
    outer: Span
    """The same with what bounds it: "more than", "about", "the"."""
    slack: float = 0.0
    """How far the true value may lie outside, as exactly as this is given."""
    rounding: float = 0.0
    """The same beside a quantity in another unit: one of the two was converted, and zeros at the end may be round."""
    unit: str = ""
    topics: frozenset[str] = frozenset()
    """What is counted, as the words that follow."""
    parts: tuple[Quantity, ...] = ()
    """What it states as well: the two ends of a range, the day of a date without its year."""
    extent: bool = False
    """A range that says where something begins and ends, rather than that a value lies somewhere in it."""

    def relate(self, other: Quantity) -> Relation:
        """Return how a quantity of the same kind lies to this one."""
        same_unit = self.unit == other.unit
        own, others = (one.slack if same_unit else one.rounding for one in (self, other))
        holds_other = _lies_in(other, self, own)
        if holds_other:
            return "equal" if _lies_in(self, other, others) else "within"
        gap = max(other.low - others - (self.high + own), self.low - own - (other.high + others))
        # What would be rounded to either of two neighbours is neither's own.
        return "apart" if gap > 0 or (gap == 0 and own + others > 0) else "overlap"

    def speaks_of_the_same(self, other: Quantity) -> bool:
        """Return whether the two could be one quantity, so that unequal values exclude each other."""
        if self.kind != other.kind:
            return False
        if self.kind not in COUNTED or self.topics & other.topics:
            return True
        if self.kind != "count" or (self.topics and other.topics):
            return False
        # Where one of the two does not say what it counts, great numbers of like size are taken for the same.
        small, great = sorted((self.low, other.low))
        return small >= SMALLEST_SURE and great <= small * MOST_UNLIKE


def _lies_in(inner: Quantity, outer: Quantity, slack: float) -> bool:
    """Return whether a stated value lies in another, widened by a slack."""
    return _at_most(outer.low - slack, inner.low) and _at_most(inner.high, outer.high + slack)


def _at_most(left: float, right: float) -> bool:
    return left <= right or math.isclose(left, right, rel_tol=1e-9)
