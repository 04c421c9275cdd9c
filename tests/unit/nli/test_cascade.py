"""Two models in a row: whose word counts for which pair, and what the pair of them says of itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import FakeNli
from fakes.nli import Table, contradicts, entails, neutral
from proxy.errors import ModelFolderInvalid, NliBusy, NliFailed
from proxy.nli.cascade import SURE, CascadeNli, is_settled
from proxy.nli.scoring import Pair, Probabilities
from proxy.services import Nli

pytestmark = pytest.mark.anyio

FIRST: Table = {
    "sure entailment": entails(0.95),
    "sure neutral": neutral(0.95),
    "weak entailment": entails(0.94),
    "weak neutral": neutral(0.94),
    "sure contradiction": contradicts(0.99),
    "torn": Probabilities(0.4, 0.2, 0.4),
}


def pairs_of(*hypotheses: str) -> list[Pair]:
    return [Pair("premise", hypothesis) for hypothesis in hypotheses]


async def test_the_large_model_reads_what_is_not_settled() -> None:
    """Sure entailments and neutrals stay; what is near the line, and every contradiction, is the large model's."""
    second = FakeNli(lambda *_: entails(0.7))
    cascade = CascadeNli(FakeNli(FIRST), second)
    results = await cascade.score(pairs_of(*FIRST))  # type: ignore[arg-type]
    assert results == [entails(0.95), neutral(0.95), *[entails(0.7)] * 4]
    assert second.pairs == pairs_of("weak entailment", "weak neutral", "sure contradiction", "torn")


async def test_results_keep_the_order_of_pairs() -> None:
    """Settled or not, results come as the pairs did, and no pair is read twice by one model."""
    first, second = FakeNli(FIRST), FakeNli(lambda _, hypothesis: contradicts(len(hypothesis) / 100))
    asked = pairs_of("torn", "sure neutral", "weak neutral", "sure entailment", "torn")
    assert await CascadeNli(first, second).score(asked) == [
        contradicts(0.04),
        neutral(0.95),
        contradicts(0.12),
        entails(0.95),
        contradicts(0.04),
    ]
    assert first.pairs == asked


@pytest.mark.parametrize("hypotheses", [[], ["sure neutral"]])
async def test_the_large_model_may_have_nothing_to_read(hypotheses: list[str]) -> None:
    """Where all is settled the large model is asked nothing."""
    second = FakeNli()
    assert len(await CascadeNli(FakeNli(FIRST), second).score(pairs_of(*hypotheses))) == len(hypotheses)
    assert second.pairs == []


@pytest.mark.parametrize("failure", [NliFailed("broken"), NliBusy("full")])
async def test_either_model_can_fail(failure: NliFailed) -> None:
    """A failure of either is the cascade's: the small model never stands in for the large one."""
    for models in ((FakeNli(failure=failure), FakeNli()), (FakeNli(FIRST), FakeNli(failure=failure))):
        with pytest.raises(type(failure)):
            await CascadeNli(*models).score(pairs_of("torn"))


@given(st.floats(0, 1), st.floats(0, 1))
def test_no_contradiction_is_settled(entailment: float, rest: float) -> None:
    """Whatever leans to contradiction is open, so that no edit ever follows from the small model alone."""
    found = Probabilities(entailment, (1 - entailment) * rest, (1 - entailment) * (1 - rest))
    if is_settled(found):
        assert not found.contradicts
        assert max(found.entailment, found.neutral) >= SURE - 1e-9
    else:
        assert max(found.entailment, found.neutral) < SURE


class Other(FakeNli):
    """A model of other limits, that counts letters."""

    name = "other"
    languages = frozenset({"en", "ko"})
    max_tokens = 128
    tau_floor = 0.6
    tau_ceiling = 0.8

    def count_tokens(self, text: str) -> int:
        return len(text)


def test_what_it_says_of_itself() -> None:
    """Both names; the shorter limit and the larger count, whichever model has them; the large model's line."""
    cascade: Nli = CascadeNli(FakeNli(), Other())
    turned: Nli = CascadeNli(Other(), FakeNli())
    assert (cascade.name, turned.name) == ("fake+other", "other+fake")
    assert cascade.languages == turned.languages == {"en"}
    assert cascade.max_tokens == turned.max_tokens == 128
    assert (cascade.tau_floor, cascade.tau_ceiling) == (0.6, 0.8)
    assert cascade.count_tokens("two words") == turned.count_tokens("two words") == 9


def test_models_without_a_common_language() -> None:
    """Two models that never read the same text are no cascade."""
    korean = Other()
    korean.languages = frozenset({"ko"})
    with pytest.raises(ModelFolderInvalid, match="no language in common"):
        CascadeNli(FakeNli(), korean)
