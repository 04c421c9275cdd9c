"""The self-test lets a model serve that gives the plainest pairs their labels, and no other."""

from __future__ import annotations

import math

import pytest

from fakes import FakeNli
from proxy.errors import NliFailed, SelfTestFailed
from proxy.nli.cascade import CascadeNli
from proxy.nli.scoring import Probabilities
from proxy.nli.selftest import SANITY_PAIRS, run_selftest

pytestmark = pytest.mark.anyio

RIGHT = {
    "entailment": Probabilities(0.9, 0.05, 0.05),
    "neutral": Probabilities(0.05, 0.9, 0.05),
    "contradiction": Probabilities(0.05, 0.05, 0.9),
}
ANSWERS: dict[str | tuple[str, str], Probabilities] = {
    (pair.premise, pair.hypothesis): RIGHT[label] for label, pair in SANITY_PAIRS
}


async def test_a_sound_model_passes() -> None:
    """All pairs are scored twice, first to warm up, then for the time."""
    nli = FakeNli(ANSWERS)
    result = await run_selftest(nli)
    assert len(nli.pairs) == 2 * len(SANITY_PAIRS) == 6
    assert result.first_ms >= 0
    assert result.pair_ms >= 0


@pytest.mark.parametrize("label", RIGHT)
async def test_one_wrong_label_is_enough(label: str) -> None:
    """C32: the reason names the label that was missed and what it got."""
    missed = {key: Probabilities(0.33, 0.33, 0.34) for key, right in ANSWERS.items() if right is RIGHT[label]}
    with pytest.raises(SelfTestFailed, match=rf"{label} only 0\.3"):
        await run_selftest(FakeNli(ANSWERS | missed))


async def test_not_a_number_does_not_pass() -> None:
    """NaN is below no bound and above none: it fails all the same."""
    broken = Probabilities(math.nan, math.nan, math.nan)
    with pytest.raises(SelfTestFailed, match="nan"):
        await run_selftest(FakeNli(lambda *_: broken))


async def test_a_model_that_cannot_run_does_not_pass() -> None:
    """A failing model fails the self-test, with its reason."""
    with pytest.raises(SelfTestFailed, match="no finite number"):
        await run_selftest(FakeNli(failure=NliFailed("no finite number")))


async def test_both_models_of_a_cascade_are_tested() -> None:
    """Each reads all pairs, those too that the small one settles; one that fails is enough, and is named."""
    sound = FakeNli(ANSWERS)
    await run_selftest(CascadeNli(sound, sound))
    assert len(sound.pairs) == 12
    wrong = FakeNli(lambda *_: RIGHT["neutral"])
    wrong.name = "wrong"
    for models in ((wrong, sound), (sound, wrong)):
        with pytest.raises(SelfTestFailed, match="model wrong gives entailment"):
            await run_selftest(CascadeNli(*models))
