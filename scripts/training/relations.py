"""What can be said of a subject: relations, each with several wordings of the same statement.

In: `relations.toml`, a text to be read and added to. Out: `RELATIONS` by kind of subject, and `ORDERED`, relations
between two subjects. It stands apart from `facts`, which need not know where the wordings are kept.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Relation:
    """One slot of a subject."""

    slot: str
    """The value's type (`values.draw`)."""
    wordings: tuple[str, ...]
    """Statements that all mean the same; `{s}` is the subject, `{v}` the value, `{a}` its article."""


@dataclass(frozen=True, slots=True)
class Order:
    """Which of two subjects comes first in some order: statements of it, and of the opposite, which excludes it."""

    slot: str
    forward: tuple[str, ...]
    backward: tuple[str, ...]


_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))

ORDERED: Final = tuple(
    Order(row["slot"], tuple(row["forward"]), tuple(row["backward"])) for row in _TABLE.pop("ordered")
)
RELATIONS: Final[Mapping[str, tuple[Relation, ...]]] = {
    kind: tuple(Relation(row["slot"], tuple(row["wordings"])) for row in rows) for kind, rows in _TABLE.items()
}
