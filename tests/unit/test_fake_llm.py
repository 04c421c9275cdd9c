"""The scripted model answers by task, records, waits, fails and runs out as told."""

from __future__ import annotations

import asyncio

import pytest

from fakes import Ask, FakeLlm, Gate
from proxy.errors import LlmCallFailed
from proxy.services import Llm, Reply


def test_fake_llm_is_an_llm() -> None:
    """It fits the Protocol, keeps a record, and uses answers in turn, the last one again and again."""
    fake = FakeLlm({"claims": ["one", Reply("two", complete=False)], "recall": "facts"}, max_calls=5)
    llm: Llm = fake

    async def ask() -> list[Reply]:
        tasks = ("claims", "claims", "recall", "claims")
        return [await llm.ask(task, "do", f"text {n}") for n, task in enumerate(tasks)]  # type: ignore[arg-type]

    two = Reply("two", complete=False)
    assert asyncio.run(ask()) == [Reply("one"), two, Reply("facts"), two]
    assert fake.asks[2] == Ask("recall", "do", "text 2")
    assert fake.texts("claims") == ["text 0", "text 1", "text 3"]


def test_fake_llm_asks_a_function() -> None:
    """An answer may be made from the call."""
    llm = FakeLlm({"correction": lambda ask: ask.text.upper()})
    assert asyncio.run(llm.ask("correction", "do", "abc")) == Reply("ABC")


@pytest.mark.parametrize(
    "llm", [FakeLlm(), FakeLlm({"recall": LlmCallFailed("x")}), FakeLlm({"recall": "x"}, max_calls=0)]
)
def test_fake_llm_fails(llm: FakeLlm) -> None:
    """A task without an answer, an exception for an answer, and a spent budget are failed calls."""
    with pytest.raises(LlmCallFailed):
        asyncio.run(llm.ask("recall", "do", "abc"))


def test_fake_llm_waits_at_its_gate() -> None:
    """A call is recorded first, and answered once the gate is open."""

    async def ask_while_shut() -> bool:
        gate = Gate()
        llm = FakeLlm({"recall": "x"}, gate=gate)
        asking = asyncio.create_task(llm.ask("recall", "do", "abc"))
        await asyncio.sleep(0)
        waited = len(llm.asks) == 1 and not asking.done()
        gate.open()
        return waited and await asking == Reply("x")

    assert asyncio.run(ask_while_shut())
