"""The sanity check of an NLI model before it may serve (case C32).

In: a loaded model. Out: how long a pair takes once the model is warm, or `SelfTestFailed` with the reason. It
stands apart because a model can load without a fault and be noise: a wrong label order, a quantisation that this
CPU computes wrongly, another model's tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Final

from proxy.errors import NliFailed, SelfTestFailed
from proxy.nli.cascade import CascadeNli
from proxy.nli.scoring import DECISIVE, Label, Pair, Probabilities
from proxy.services import Nli

SANITY_PAIRS: Final[tuple[tuple[Label, Pair], ...]] = (
    ("entailment", Pair("A man is playing the guitar.", "A man is playing music.")),
    (
        "neutral",
        Pair("The lighthouse was built in 1880 and is 32 metres tall.", "The keeper of the lighthouse liked to sing."),
    ),
    ("contradiction", Pair("The bridge was opened in 1913.", "The bridge was opened in 1931.")),
)
"""Pairs so plain that any three-way NLI model labels them alike."""


@dataclass(frozen=True, slots=True)
class SelfTest:
    """A passed self-test; the times tell warm-up from steady work."""

    first_ms: float
    """The very first pair, with what the runtime does but once."""
    pair_ms: float
    """The median pair after that."""


async def run_selftest(nli: Nli) -> SelfTest:
    """Score the sanity pairs, which also warms the model up, then score them again for the time.

    Of a cascade each model has to pass by itself, for its large one would not see all of the pairs; the times are
    the large one's.

    Raises:
        SelfTestFailed: the model cannot be run, or does not give each pair's label at least `DECISIVE`.
    """
    if isinstance(nli, CascadeNli):
        await run_selftest(nli.first)
        return await run_selftest(nli.second)
    try:
        first, *_ = [await _time_pair(nli, pair, label) for label, pair in SANITY_PAIRS]
        warm = [await _time_pair(nli, pair, label) for label, pair in SANITY_PAIRS]
    except NliFailed as error:
        raise SelfTestFailed(f"the NLI model {nli.name} failed its self-test: {error}") from error
    return SelfTest(first_ms=first, pair_ms=median(warm))


async def _time_pair(nli: Nli, pair: Pair, label: Label) -> float:
    """Score one sanity pair, check its label, and return the milliseconds it took."""
    start = perf_counter()
    results: Sequence[Probabilities] = await nli.score([pair])
    taken_ms = (perf_counter() - start) * 1e3
    share: float = getattr(results[0], label)
    if not share >= DECISIVE:
        raise SelfTestFailed(
            f"the NLI model {nli.name} gives {label} only {share:.2f} for {pair.premise!r} and {pair.hypothesis!r}; "
            "check its id2label, its tokenizer.json and its quantisation"
        )
    return taken_ms
