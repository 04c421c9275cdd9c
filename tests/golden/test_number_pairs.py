"""The shipped NLI model with the number check beside it, on hand-made pairs (contract, section 5)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fakes.number_pairs import EQUAL, UNEQUAL
from proxy.matching import Matcher
from proxy.nli.onnx import OnnxNli, load_onnx_nli
from proxy.nli.scoring import Probabilities

EMBEDDED = Path(__file__).parents[2] / "models" / "embedded"


@pytest.fixture(scope="module")
def nli() -> Iterator[OnnxNli]:
    """Load the shipped model once."""
    loaded = load_onnx_nli(EMBEDDED)
    yield loaded
    loaded.close()


def judge(nli: OnnxNli, pairs: Sequence[tuple[str, str]]) -> list[Probabilities]:
    async def judge_all() -> list[Probabilities]:
        matcher = Matcher(nli, [])
        return [found for premise, claim in pairs for found in await matcher.probe(claim, [premise])]

    return asyncio.run(judge_all())


def test_equal_values_in_other_forms_are_no_contradiction(nli: OnnxNli) -> None:
    """Nine in ten are entailed, of which the model alone sees half, and next to none contradicted."""
    found = judge(nli, EQUAL)
    assert sum(result.contradicts for result in found) <= 1
    assert sum(result.entails for result in found) >= 0.9 * len(EQUAL)


def test_unequal_values_are_never_entailed(nli: OnnxNli) -> None:
    """None, whatever the model says; most are contradicted by it."""
    found = judge(nli, UNEQUAL)
    assert [pair for pair, result in zip(UNEQUAL, found, strict=True) if result.entailment] == []
    assert sum(result.contradicts for result in found) >= 0.7 * len(UNEQUAL)
