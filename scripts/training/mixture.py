"""The training set: how much of which source, and the pairs made for the job.

In: the folder of labelled pairs (one JSON object a line: premise, hypothesis, label, source) and a seed. Out: the
pairs in training order. It stands apart because the shares are the recipe: what the model learns is decided here.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from training.facts import ENTAILMENT, NEUTRAL, Example, make_facts
from training.groups import make_groups
from training.swaps import collect_names, cut_copies, make_swaps, state_copula
from training.values import Random

REAL: Final[Mapping[str, int]] = {
    "fever": 12_000, "fever_nei2": 1300, "fever_unrelated_synth": 1600, "foolmetwice": 1800, "feverous": 2200,
    "mnli_matched": 4500, "mnli_mismatched": 4500, "lingnli": 4000, "snli": 4000, "negation_nli": 1900,
    "breaking_nli": 1500, "scitail": 1500, "conjnli_adv_auto": 3000, "climate_fever": 2000, "infotabs": 3000,
    "hans": 600, "med": 600, "healthver": 800, "scifact": 400, "conjnli": 143,
}  # fmt: skip
"""Most pairs taken of each source."""
SWAPPED: Final = ("fever", "foolmetwice", "feverous")
"""Sources whose evidence and claims get swapped twins."""
MOST_WORDS: Final = 60
"""Longer pairs are left out: a recall's window against a claim is short, and time is linear in length."""
FACTS: Final = 34_000
GROUPS: Final = 9000
SWAPS: Final = 24_000
COPULAS: Final = 7000
COPIES: Final = 2000


def read_pairs(file: Path) -> list[Example]:
    """Read labelled pairs, one JSON object a line, gzipped or not."""
    read = gzip.decompress if file.suffix == ".gz" else bytes
    rows = map(json.loads, read(file.read_bytes()).splitlines())
    return [Example(row["premise"], row["hypothesis"], row["label"], row.get("source", "")) for row in rows]


def build_mixture(data: Path, held_out: Iterable[str], seed: int) -> list[Example]:
    """Return the training pairs in a random order that the seed decides.

    Args:
        data: The folder with `train.jsonl.gz`.
        held_out: Subjects of the slot-swap test; no pair that names one is kept.
        seed: Of every random choice.
    """
    rng = random.Random(seed)
    real = [pair for pair in read_pairs(data / "train.jsonl.gz") if _count_words(pair) <= MOST_WORDS]
    rng.shuffle(real)
    evidence = [pair for pair in real if pair.source in SWAPPED]
    mixture = [
        *_cap(real, REAL),
        *_sample(make_all_swaps(evidence, rng), SWAPS, rng),
        *_sample(_make_copulas(evidence, rng), COPULAS, rng),
        *islice((pair for item in evidence for pair in cut_copies(item.premise, rng)), COPIES),
        *islice(_repeat(make_facts, rng), FACTS),
        *islice(_repeat(make_groups, rng), GROUPS),
    ]
    banned = [subject.casefold() for subject in held_out]
    kept = [pair for pair in mixture if not _names_any(pair, banned)]
    rng.shuffle(kept)
    return kept


def make_all_swaps(evidence: Sequence[Example], rng: Random) -> list[Example]:
    """Return every swapped twin of the evidence pairs."""
    pool = collect_names([text for pair in evidence for text in (pair.hypothesis, pair.premise)])
    return [twin for pair in evidence for twin in make_swaps(pair, pool, rng)]


def _make_copulas(evidence: Sequence[Example], rng: Random) -> list[Example]:
    """Return what first sentences say their subject is, as claims, with swapped twins and open ones."""
    premises = dict.fromkeys(pair.premise for pair in evidence)
    stated = [(premise, claim) for premise in premises if (claim := state_copula(premise))]
    base = [Example(premise, claim, ENTAILMENT, "copula") for premise, claim in stated]
    others = [
        Example(premise, rng.choice(stated)[1], NEUTRAL, "copula_other") for premise, _ in stated[: len(stated) // 3]
    ]
    return [*base, *others, *make_all_swaps(base, rng)]


def _repeat(make: Callable[[Random], Iterator[Example]], rng: Random) -> Iterator[Example]:
    """Yield made-up pairs without end."""
    while True:
        yield from make(rng)


def _cap(pairs: Sequence[Example], most: Mapping[str, int]) -> Iterator[Example]:
    """Yield at most as many pairs of each source as allowed, the first ones."""
    taken: dict[str, int] = defaultdict(int)
    for pair in pairs:
        if taken[pair.source] < most.get(pair.source, 0):
            taken[pair.source] += 1
            yield pair


def _sample(pairs: Sequence[Example], most: int, rng: Random) -> list[Example]:
    """Return a random choice of at most `most` pairs."""
    return rng.sample(pairs, min(most, len(pairs)))


def _count_words(pair: Example) -> int:
    """Return the words of premise and hypothesis together."""
    return len(pair.premise.split()) + len(pair.hypothesis.split())


def _names_any(pair: Example, subjects: Sequence[str]) -> bool:
    """Return whether the pair names one of the subjects, given in lower case."""
    text = f"{pair.premise}\n{pair.hypothesis}".casefold()
    return any(subject in text for subject in subjects)
