"""Pairs about several subjects at once: who did what to whom, what came first, which part was whose.

In: a random generator. Out: labelled pairs in which every name of the claim stands in the premise too, so that only
their places in the sentence can answer. It stands apart from `facts`, where a claim differs by a new value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from training.facts import CONTRADICTION, ENTAILMENT, NEUTRAL, Example, end_sentence
from training.relations import ORDERED
from training.values import Random, draw, make_name

SHARED_WORKS: Final = (
    ("wrote the words of", "wrote the music of"), ("directed", "produced"), ("designed", "built"),
    ("wrote", "illustrated"), ("sang", "composed"), ("discovered", "named"), ("founded", "financed"),
    ("translated", "edited"), ("played the hero in", "played the villain in"), ("painted", "bought"),
    ("invented", "patented"), ("opened", "designed"), ("commanded", "financed"), ("proposed", "rejected"),
)  # fmt: skip
"""Two parts in one thing: whoever had the one did not, as far as the premise tells, have the other."""
STEPS: Final = (
    ("The order is {0}, {1}, {2}.", "{a} comes before {b}.", "{b} comes after {a}."),
    ("First came {0}, then {1}, and at last {2}.", "{a} came before {b}.", "{b} came later than {a}."),
    ("{0} was followed by {1}, and {1} by {2}.", "{a} was earlier than {b}.", "{b} was later than {a}."),
    ("From north to south lie {0}, {1} and {2}.", "{a} lies north of {b}.", "{b} lies south of {a}."),
    ("From small to large, they are {0}, {1} and {2}.", "{a} is smaller than {b}.", "{b} is larger than {a}."),
    ("{0} won, {1} came second and {2} third.", "{a} finished ahead of {b}.", "{b} finished behind {a}."),
)  # fmt: skip
SLOTS: Final = (
    ("city", "was born in"), ("year", "was founded in"), ("person", "was written by"), ("country", "comes from"),
    ("material", "is made of"), ("disease", "is used against"), ("month", "takes place in"),
    ("language", "was written in"), ("colour", "is"),
)  # fmt: skip
"""Types of value, and verbs that take one."""
PLACES: Final = ("first", "second", "third")


def make_groups(rng: Random) -> Iterator[Example]:
    """Yield the pairs of one made-up group."""
    yield from rng.choice((_compare_two, _compare_two, _share_work, _line_up, _correct_value))(rng)


def _compare_two(rng: Random) -> Iterator[Example]:
    """Yield pairs about two subjects in a relation that has a direction, or expressly none."""
    order = rng.choice(ORDERED)
    first, second, third = (draw(order.slot, rng) for _ in range(3))
    premise, same = (end_sentence(wording.format(s=first, v=second)) for wording in rng.sample(order.forward, 2))
    yield Example(premise, same, ENTAILMENT, "groups_order")
    if order.backward:
        turned = end_sentence(rng.choice(order.backward).format(s=first, v=second))
        yield Example(premise, turned, CONTRADICTION, "groups_order")
    if rng.random() < 0.4:
        other = end_sentence(rng.choice(order.forward).format(s=first, v=third))
        yield Example(premise, other, NEUTRAL, "groups_order")


def _share_work(rng: Random) -> Iterator[Example]:
    """Yield pairs about two people who had different parts in one work."""
    parts = list(rng.choice(SHARED_WORKS))
    rng.shuffle(parts)
    work = make_name(rng)
    people = draw("person", rng), draw("person", rng)
    shape = rng.choice(("{a} {x} {w} and {b} {y} it.", "{a} {x} {w}, while {b} {y} it.", "{a} {x} {w}. {b} {y} {w}."))
    premise = shape.format(a=people[0], b=people[1], x=parts[0], y=parts[1], w=work)
    told = rng.randrange(2)
    yield Example(premise, f"{people[told]} {parts[told]} {work}.", ENTAILMENT, "groups_parts")
    yield Example(premise, f"{people[1 - told]} {parts[told]} {work}.", CONTRADICTION, "groups_parts")


def _line_up(rng: Random) -> Iterator[Example]:
    """Yield pairs about three things in a row."""
    row = [make_name(rng) for _ in range(3)]
    premise, forward, backward = rng.choice(STEPS)
    first, second = sorted(rng.sample(range(3), 2))
    said = premise.format(*row)
    for wording in rng.sample((forward, backward), 2):
        turned = rng.random() < 0.5
        a, b = (row[second], row[first]) if turned else (row[first], row[second])
        yield Example(said, wording.format(a=a, b=b), CONTRADICTION if turned else ENTAILMENT, "groups_row")
    if "won" in premise:
        at, claimed = rng.randrange(3), rng.randrange(3)
        label = ENTAILMENT if at == claimed else CONTRADICTION
        yield Example(said, f"{row[at]} came {PLACES[claimed]}.", label, "groups_row")


def _correct_value(rng: Random) -> Iterator[Example]:
    """Yield pairs whose premise denies one value and states another."""
    kind, verb = rng.choice(SLOTS)
    name, right, wrong = make_name(rng), draw(kind, rng), draw(kind, rng)
    if right == wrong:
        return
    auxiliary, _, rest = verb.partition(" ")
    denied = f"{auxiliary} not {rest}".strip() if auxiliary in ("was", "is") else f"does not {auxiliary[:-1]} {rest}"
    preposition = rest.rpartition(" ")[2]
    premise = rng.choice((
        f"{name} {denied} {wrong}, but {preposition} {right}.".replace(",  but", ", but"),
        f"{name} {verb} {right}, not {preposition} {wrong}.",
        f"{name} {verb} {right} and not {wrong}.",
    ))  # fmt: skip
    premise = premise.replace("but  ", "but ").replace("not  ", "not ")
    yield Example(premise, f"{name} {verb} {right}.", ENTAILMENT, "groups_denied")
    yield Example(premise, f"{name} {verb} {wrong}.", CONTRADICTION, "groups_denied")
    if rng.random() < 0.5:
        yield Example(premise, f"{name} {denied} {wrong}.", ENTAILMENT, "groups_denied")
        yield Example(premise, f"{name} {denied} {right}.", CONTRADICTION, "groups_denied")
