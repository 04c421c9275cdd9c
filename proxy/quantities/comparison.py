"""What the quantities of a premise say of a claim's, and a claim put in the premise's own forms.

In: two texts. Out: whether their quantities agree, differ or leave it open; the claim rewritten. NLI models read
numbers as words: "1,830,000" and "1.83 million" are unlike to them, 1913 and 1931 alike. Pure, without a model.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from proxy.quantities.quantity import Quantity
from proxy.quantities.reading import read_quantities
from proxy.wording import numbers_of

Agreement = Literal["agree", "differ", "open"]
Read = Callable[[str], Sequence[Quantity]]
"""How quantities are read; hand in one that remembers where many claims are held against one text."""

_NEGATION: Final = re.compile(
    r"\b(?:not|never|no|nor|neither|cannot|without|none|nobody|nothing|rather|instead|unlike|except|false|wrong)\b"
    r"|n['’]t\b|않|아니|없",
    re.IGNORECASE,
)


def compare_quantities(premise: str, claim: str, read: Read = read_quantities) -> Agreement:
    """Return what the premise's quantities say of the claim's (contract, section 5).

    Returns:
        `agree`: each quantity of the claim is in the premise too, in whatever form, or holds one of it ("in the
        1970s" holds 1974). `differ`: one of the claim is not, though the premise has one of its kind. `open`: the
        claim has none, is more exact than the premise, denies something, or is of what the premise has none of.
    """
    if _NEGATION.search(claim):
        # "It did not open in 1931" is borne out by another year.
        return "open"
    stated = [part for quantity in read(premise) for part in (quantity, *_parts_of(quantity))]
    return _worst(_compare(quantity, stated) for quantity in read(claim))


def align_quantities(claim: str, premise: str, read: Read = read_quantities) -> str:
    """Return the claim with its quantities in the premise's own form, where they are equal.

    A wider one ("in the 1970s", "over 300 m") gives way to the only one of the premise that it holds, unless the claim
    denies something: who says the exact value also says the wider one. So what the model makes of the result holds
    for the claim too.
    """
    stated = read(premise)
    denies = _NEGATION.search(claim) is not None
    for quantity in reversed(read(claim)):
        if model := _find_equal(quantity, stated):
            (start, end), (first, last) = quantity.span, model.span
        elif not denies and (model := _find_held(quantity, stated)):
            (start, end), (first, last) = quantity.outer, model.outer
        else:
            continue
        claim = claim[:start] + premise[first:last] + claim[end:]
    return claim


def adds_quantities(text: str, known: str) -> bool:
    """Return whether a text has a number or quantity that is not known, in whatever form (contract, section 7)."""
    stated = read_quantities(known)
    stated = (*stated, *(part for quantity in stated for part in _parts_of(quantity)))
    for quantity in reversed(read_quantities(text)):
        start, end = quantity.span
        words = text[start:end]
        if _find_equal(quantity, stated):
            text = f"{text[:start]} {text[end:]}"
        elif not numbers_of(words) and words.casefold() not in known.casefold():
            return True
    return not numbers_of(text) <= numbers_of(known)


def _worst(found: Iterable[Agreement]) -> Agreement:
    all_found = set(found)
    return "differ" if "differ" in all_found else "agree" if all_found == {"agree"} else "open"


def _parts_of(quantity: Quantity) -> list[Quantity]:
    return [part for one in quantity.parts for part in (one, *_parts_of(one))]


def _compare(quantity: Quantity, stated: Sequence[Quantity]) -> Agreement:
    """Compare one quantity of the claim with all that the premise states."""
    same_kind = [other for other in stated if other.kind == quantity.kind]
    if quantity.extent:
        return _compare_extent(quantity, same_kind)
    relations = [quantity.relate(other) for other in same_kind]
    if "equal" in relations or "within" in relations:
        return "agree"
    apart = [other for other, relation in zip(same_kind, relations, strict=True) if relation == "apart"]
    vague = [other for other, relation in zip(same_kind, relations, strict=True) if relation == "overlap"]
    if not all(_is_made_exact(other, apart) for other in vague):
        return "open"
    day, days = quantity.parts[:1], [other for other in stated if other.kind == "day"]
    if any(quantity.speaks_of_the_same(other) for other in same_kind):
        # "7 May 2018" may be said in the two places where the premise has the day and the year.
        lone = [other for other in days if not any(other in one.parts for one in same_kind)]
        return "open" if any(part.relate(other) == "equal" for part in day for other in lone) else "differ"
    # The premise has days of no year, which can still be others.
    return "differ" if any(_compare(part, days) == "differ" for part in day) else "open"


def _is_made_exact(vague: Quantity, exact: Sequence[Quantity]) -> bool:
    """Return whether the premise itself says more exactly what it leaves vague: the film of 2007, on 1 June 2007."""
    return not vague.extent and any(vague.relate(other) == "within" for other in exact)


def _compare_extent(quantity: Quantity, same_kind: Sequence[Quantity]) -> Agreement:
    """Compare a period: equal to another one or both its ends found, or else another one stands there."""
    extents = [other for other in same_kind if other.extent]
    ends = _worst(_compare(end, same_kind) for end in quantity.parts)
    if ends == "agree" or any(quantity.relate(other) == "equal" for other in extents):
        return "agree"
    return "differ" if extents else ends


def _find_equal(quantity: Quantity, stated: Sequence[Quantity]) -> Quantity | None:
    """Return the quantity of the premise that is the same, whatever its form."""
    return next((o for o in stated if o.kind == quantity.kind and quantity.relate(o) == "equal"), None)


def _find_held(quantity: Quantity, stated: Sequence[Quantity]) -> Quantity | None:
    """Return the one quantity of the premise that lies within a wider one, if there is just one of its kind there."""
    held = [other for other in stated if other.kind == quantity.kind and quantity.relate(other) == "within"]
    # "Before 1920" has a preposition of its own, which the other date has not.
    bounded = quantity.kind == "date" and math.isinf(quantity.high - quantity.low)
    return held[0] if len(held) == 1 and not quantity.extent and not bounded else None
