"""Pairs from real sentences: one slot of an evidence sentence, of a claim, or of both, takes another value.

In: labelled pairs of fact-verification sets. Out: more pairs, made so that a claim alone, or a premise alone, says
nothing of the label: each text occurs with both. It stands apart from `facts` because the wording here is real.

The idea of judging a claim against an evidence and its edited twin is that of FEVER-symmetric (Schuster and others,
2019); nothing of that set is used.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from training.facts import CONTRADICTION, ENTAILMENT, NEUTRAL, Example, negate
from training.values import LISTS, Random, draw_other

LISTED: Final = (
    "country", "nationality", "month", "role", "job", "genre", "music", "language", "field", "sport", "instrument",
    "direction", "ordinal", "small", "relative", "award", "colour", "material", "metal", "weekday", "season",
    "religion", "planet", "element", "organ", "disease",
)  # fmt: skip
OPPOSITES: Final = (
    ("actor", "actress"), ("first", "last"), ("largest", "smallest"), ("highest", "lowest"), ("before", "after"),
    ("male", "female"), ("northern", "southern"), ("eastern", "western"), ("won", "lost"), ("increase", "decrease"),
    ("increased", "decreased"), ("more", "less"), ("oldest", "youngest"), ("longest", "shortest"), ("best", "worst"),
    ("started", "ended"), ("began", "finished"), ("above", "below"), ("positive", "negative"), ("major", "minor"),
    ("husband", "wife"), ("born", "buried"), ("success", "failure"), ("alive", "dead"), ("film", "novel"),
    ("television", "radio"), ("song", "film"), ("album", "book"), ("band", "magazine"), ("city", "village"),
    ("company", "charity"), ("novel", "poem"), ("always", "never"), ("rejected", "accepted"), ("war", "peace"),
    ("public", "private"), ("summer", "winter"), ("king", "queen"), ("prince", "princess"), ("man", "woman"),
    ("men", "women"), ("boys", "girls"), ("drama", "comedy"), ("bestselling", "unsold"), ("rich", "poor"),
)  # fmt: skip
SIZES: Final = re.compile(r"\b\d[\d,.]*\d\b|\b\d+\b")
YEAR: Final = re.compile(r"\b(?:1[1-9]\d\d|20[0-2]\d)\b")
NAME: Final = re.compile(r"(?:[A-Z][\w'’-]+)(?: (?:[A-Z][\w'’-]+|of|the|de|van|von)){0,3}(?<! of)(?<! the)(?<! de)")
SHARE_NEGATED: Final = 0.12


@dataclass(frozen=True, slots=True)
class Slot:
    """A value found in a text, and its type."""

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class NamePool:
    """Proper names of the corpus by the word before them and their number of words: `by` is followed by people."""

    names: Mapping[tuple[str, int], Sequence[str]]

    def draw_other(self, before: str, name: str, rng: Random) -> str | None:
        """Return another name that occurs after the same word, or None where there are too few."""
        known = self.names.get((before, len(name.split())), ())
        enough = 20
        if len(known) < enough:
            return None
        other = rng.choice(known)
        clash = other.casefold() in name.casefold() or name.casefold() in other.casefold()
        return None if clash else other


def collect_names(claims: Sequence[str]) -> NamePool:
    """Gather the proper names that follow each lower-case word in claims."""
    names: dict[tuple[str, int], list[str]] = defaultdict(list)
    for claim in claims:
        for before, name in _find_names(claim):
            names[before, len(name.split())].append(name)
    return NamePool(names)


def make_swaps(example: Example, pool: NamePool, rng: Random) -> Iterator[Example]:
    """Yield the pair's swapped twins: up to three slots of an entailed pair, the clash of a contradicted one.

    A pair in which no slot is found yields nothing, or now and then its denial.
    """
    if rng.random() < SHARE_NEGATED:
        yield from _deny(example)
    if example.label == ENTAILMENT:
        slots = [slot for slot in find_slots(example.hypothesis) if _occurs(slot.value, example.premise)]
        rng.shuffle(slots)
        for slot in slots[:2]:
            other = draw_other(slot.kind, slot.value, rng)
            yield from _square(example, slot.value, _match_case(other, slot.value))
        yield from _swap_name(example, pool, rng)
        yield from _swap_opposite(example, rng)
    elif example.label == CONTRADICTION:
        yield from _mend(example)


def find_slots(text: str) -> list[Slot]:
    """Return the values of known types in a text, in no particular order."""
    found = [Slot("year", match[0]) for match in YEAR.finditer(text)]
    found += [
        Slot("people", match[0]) for match in SIZES.finditer(text) if not YEAR.fullmatch(match[0]) and len(match[0]) > 1
    ]
    for kind, pattern in _LIST_PATTERNS.items():
        found += [Slot(kind, match[0]) for match in pattern.finditer(text)]
    return [slot for slot in found if slot.value.casefold() not in _AMBIGUOUS]


def _square(example: Example, value: str, other: str) -> Iterator[Example]:
    """Yield the three twins of an entailed pair: claim swapped, evidence swapped, both swapped."""
    if other[:1].isdigit() and " " in other:
        other = other.split(" ", maxsplit=1)[0]
    premise, hypothesis = example.premise, example.hypothesis
    if _occurs(other, premise):
        # The other value stands in the evidence too: a claim with it may be about that, so only the claim is swapped
        # and only where the evidence is one sentence, which then is the hard kind of decoy.
        return
    premise2, hypothesis2 = _swap(premise, value, other), _swap(hypothesis, value, other)
    source = f"{example.source}_swap"
    yield Example(premise, hypothesis2, CONTRADICTION, source)
    yield Example(premise2, hypothesis, CONTRADICTION, source)
    yield Example(premise2, hypothesis2, ENTAILMENT, source)


def _mend(example: Example) -> Iterator[Example]:
    """Yield the twins of a contradicted pair whose clash is one value: the claim mended, the evidence bent, both."""
    said = [slot for slot in find_slots(example.hypothesis) if not _occurs(slot.value, example.premise)]
    if len(said) != 1:
        return
    (slot,) = said
    there = {
        found.value
        for found in find_slots(example.premise)
        if found.kind == slot.kind and not _occurs(found.value, example.hypothesis)
    }
    if len(there) != 1:
        return
    (value,) = there
    premise2, hypothesis2 = _swap(example.premise, value, slot.value), _swap(example.hypothesis, slot.value, value)
    source = f"{example.source}_mend"
    yield Example(example.premise, hypothesis2, ENTAILMENT, source)
    yield Example(premise2, example.hypothesis, ENTAILMENT, source)
    yield Example(premise2, hypothesis2, CONTRADICTION, source)


def _swap_name(example: Example, pool: NamePool, rng: Random) -> Iterator[Example]:
    """Yield the twins over one proper name that claim and evidence share."""
    shared = [(before, name) for before, name in _find_names(example.hypothesis) if _occurs(name, example.premise)]
    if shared:
        before, name = rng.choice(shared)
        if other := pool.draw_other(before, name, rng):
            yield from _square(example, name, other)


def _swap_opposite(example: Example, rng: Random) -> Iterator[Example]:
    """Yield the twins over one word that has an opposite."""
    pairs = [*OPPOSITES, *((second, first) for first, second in OPPOSITES)]
    shared = [pair for pair in pairs if _occurs(pair[0], example.hypothesis) and _occurs(pair[0], example.premise)]
    if shared:
        yield from _square(example, *rng.choice(shared))


def _deny(example: Example) -> Iterator[Example]:
    """Yield the pair with its claim denied; what is open stays open."""
    denied = negate(example.hypothesis)
    if denied:
        label = {ENTAILMENT: CONTRADICTION, CONTRADICTION: ENTAILMENT, NEUTRAL: NEUTRAL}[example.label]
        yield Example(example.premise, denied, label, f"{example.source}_denied")


def cut_copies(premise: str, rng: Random) -> Iterator[Example]:
    """Yield one sentence of an evidence, or its main clause, as an entailed claim."""
    sentences = [part for part in re.split(r"(?<=[.!?]) (?=[A-Z])", premise) if 4 < len(part.split()) < 40]
    if sentences:
        sentence = rng.choice(sentences)
        shorter = re.split(r", (?:which|who|where|and|but|while|after)\b|;", sentence)[0].rstrip(".,")
        yield Example(premise, f"{shorter}.", ENTAILMENT, "copy")


def state_copula(premise: str) -> str | None:
    """Return the plain `X is a Y` that an encyclopedic first sentence begins with, or None where it does not."""
    found = re.match(
        r"(?:[^:]{2,50}: )?([A-Z][^,(:;]{2,50}?)(?: ?\([^)]*\))? (is|was|are|were) (an?|the) ([^.,;(]{3,90})", premise
    )
    if not found:
        return None
    rest = re.split(r" (?:who|which|that|best|known|directed|starring|written|created|and)\b", found[4])[0]
    return f"{found[1].strip()} {found[2]} {found[3]} {rest.strip()}."


def _find_names(text: str) -> Iterator[tuple[str, str]]:
    """Yield each proper name inside a text with the lower-case word before it."""
    for match in NAME.finditer(text):
        before = text[: match.start()].rstrip().rsplit(" ", 1)[-1]
        if before.isalpha() and before.islower():
            yield before, match[0]


def _occurs(value: str, text: str) -> bool:
    """Return whether a value stands in a text as whole words."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _swap(text: str, value: str, other: str) -> str:
    """Replace a value wherever it stands, mending `a` and `an` before it."""
    swapped = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", lambda _: other, text, flags=re.IGNORECASE)
    article = "an" if other[:1].lower() in "aeiou" else "a"
    return re.sub(
        rf"\b(a)n? (?={re.escape(other)}\b)", lambda found: f"{found[1]}{article[1:]} ", swapped, flags=re.IGNORECASE
    )


def _match_case(other: str, value: str) -> str:
    """Give another value the first letter's case of the one it replaces."""
    return other[:1].upper() + other[1:] if value[:1].isupper() else other


def _compile(kind: str) -> re.Pattern[str]:
    """Return the pattern of a list's values, longest first; those with capitals only with capitals."""
    values = sorted(LISTS[kind], key=len, reverse=True)
    flags = re.NOFLAG if values[0][:1].isupper() else re.IGNORECASE
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, values))})\b", flags)


_LIST_PATTERNS: Final[Mapping[str, re.Pattern[str]]] = {kind: _compile(kind) for kind in LISTED}
_AMBIGUOUS: Final = frozenset(
    {"may", "march", "country", "lead", "mercury", "war", "crime", "turkey", "jordan", "georgia", "organ"}
)
"""Values that are as often something else."""
