"""Decomposition by the model: what it is asked, and what becomes of its answers."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Ask, FakeLlm, Gate, claims_reply
from proxy.claims.claim import Claim, Claims, Sentence
from proxy.claims.decompose import Budget, ClaimsFailed, anchor_claims, decompose
from proxy.claims.replies import ReadReply
from proxy.errors import LlmCallFailed
from proxy.prompts.claims import INSTRUCTION
from proxy.services import Reply

BUDGET = Budget(calls=8, claims=64)
NUMBERED = re.compile(r"^(\d+)\. (.+)$", re.MULTILINE)


def draft(*texts: str) -> list[Sentence]:
    """Return the sentences of a draft with one blank between them."""
    sentences, at = [], 0
    for index, text in enumerate(texts):
        sentences.append(Sentence(index, (at, at + len(text)), text))
        at += len(text) + 1
    return sentences


async def each(sentences: Sequence[Sentence], pauses: Sequence[int] = ()) -> AsyncIterator[Sentence]:
    for position, sentence in enumerate(sentences):
        for _ in range(pauses[position] if pauses else 0):
            await asyncio.sleep(0)
        yield sentence


def echo(ask: Ask) -> str:
    """Answer with every numbered sentence as its own claim."""
    return claims_reply([(int(number), text) for number, text in NUMBERED.findall(ask.text)])


def split(sentences: Sequence[Sentence], llm: FakeLlm, budget: Budget = BUDGET) -> Claims:
    claims = asyncio.run(decompose(each(sentences), llm, budget))
    assert isinstance(claims, Claims)
    return claims


def read(*claims: tuple[int | None, str], none: Sequence[int] | None = (), cut: bool = False) -> ReadReply:
    return ReadReply(claims, None if none is None else frozenset(none), cut)


def said(claims: Claims) -> list[tuple[int, str, str | None]]:
    return [(claim.sentence.index, claim.text, claim.unverifiable) for claim in claims.items]


def test_the_papers_example() -> None:
    """A compound statement becomes minimal facts, each anchored to its sentence."""
    sentence = "Marie Curie was a Polish-born physicist and chemist who conducted pioneering research on radioactivity."
    facts = [
        "Marie Curie was born in Poland.",
        "Marie Curie was a physicist and chemist.",
        "Marie Curie researched radioactivity.",
    ]
    llm = FakeLlm({"claims": claims_reply([(1, fact) for fact in facts])})
    claims = split(draft(sentence), llm)
    assert said(claims) == [(0, fact, None) for fact in facts]
    assert (claims.dropped, claims.incomplete) == (0, False)
    assert [(ask.task, ask.instruction) for ask in llm.asks] == [("claims", INSTRUCTION)]
    assert llm.asks[0].text == f"Sentences:\n1. {sentence}"


@pytest.mark.parametrize(
    ("count", "calls", "packs"),
    [
        (1, 8, [1]),
        (5, 8, [1, 1, 1, 1, 1]),
        (6, 8, [1, 1, 1, 1, 2]),
        (18, 8, [1, 1, 1, 1, 2, 4, 8]),
        (60, 8, [1, 1, 1, 1, 2, 4, 8, 42]),
        (60, 3, [1, 1, 58]),
        (60, 1, [60]),
        (0, 8, []),
    ],
)
def test_packs(count: int, calls: int, packs: list[int]) -> None:
    """Sizes depend on position only, and the last call takes what is left: 60 sentences are 8 calls at most (C49)."""
    llm = FakeLlm({"claims": echo})
    claims = split(draft(*(f"Fact {n} holds." for n in range(count))), llm, Budget(calls, 64))
    assert [len(NUMBERED.findall(text)) for text in llm.texts("claims")] == packs
    assert said(claims) == [(n, f"Fact {n} holds.", None) for n in range(count)]


def test_no_call_to_spend() -> None:
    """Where a choice has no call, its sentences stand as too many, and nothing is asked."""
    llm = FakeLlm({"claims": echo})
    claims = split(draft("One fact.", "Two facts."), llm, Budget(calls=0, claims=64))
    assert said(claims) == [(0, "One fact.", "too_many"), (1, "Two facts.", "too_many")]
    assert llm.asks == []


def test_claims_over_the_budget() -> None:
    """Claims after the first so many, in the order of the draft, are too many to be judged (C49)."""
    llm = FakeLlm({"claims": echo})
    claims = split(draft(*(f"Fact {n} holds." for n in range(60))), llm, Budget(calls=8, claims=21))
    assert [claim.unverifiable for claim in claims.items] == [None] * 21 + ["too_many"] * 39


def test_lines_of_a_question() -> None:
    """Sentences stand verbatim on numbered lines, below the text before them, headings once for each section."""
    first, second, third, fourth, fifth, sixth = draft("It opened.", "It is\nlong.", "C is.", "D is.", "E is.", "F is.")
    sentences = [
        Sentence(0, first.span, first.text, heading="The bridge"),
        Sentence(1, second.span, second.text, heading="The bridge"),
        *(Sentence(s.index, s.span, s.text, heading="Tolls") for s in (third, fourth, fifth)),
        Sentence(5, sixth.span, sixth.text, heading="Later"),
    ]
    llm = FakeLlm({"claims": echo})
    split(sentences, llm)
    asked = llm.texts("claims")
    assert asked[0] == "Sentences:\n# The bridge\n1. It opened."
    assert asked[1] == "Text before:\n> # The bridge\n> It opened.\n\nSentences:\n1. It is long."
    assert asked[4] == (
        "Text before:\n> # The bridge\n> It opened.\n> It is long.\n> # Tolls\n> C is.\n> D is.\n\n"
        "Sentences:\n1. E is.\n# Later\n2. F is."
    )


def test_sentences_that_state_nothing_are_context() -> None:
    """They are never asked about and never stand as a claim, but a later sentence is read after them (C24)."""
    asked, opened, liked = draft("When did Verdane Bridge open?", "It opened in 1913.", "Lovely!")
    sentences = [replace(asked, states=False), opened, replace(liked, states=False)]
    llm = FakeLlm({"claims": claims_reply([(1, "Verdane Bridge opened in 1913.")])})
    assert said(split(sentences, llm)) == [(1, "Verdane Bridge opened in 1913.", None)]
    assert llm.texts("claims") == ["Text before:\n> When did Verdane Bridge open?\n\nSentences:\n1. It opened in 1913."]
    assert split([sentences[0]], FakeLlm({})).items == ()
    assert split(sentences, FakeLlm({}), Budget(calls=0, claims=64)).items[0].unverifiable == "too_many"


@pytest.mark.parametrize(
    ("sentences", "replies", "claims"),
    [
        pytest.param(
            ["Verdane Bridge is long.", "It opened in 1913."],
            ["Verdane Bridge is long.", "It opened in 1913."],
            [("Verdane Bridge is long.", None), ("Verdane Bridge opened in 1913.", None)],
            id="a pronoun for the subject before",
        ),
        pytest.param(
            ["Verdane Bridge is long.", "It opened in 1913."],
            ["Verdane Bridge is long.", "opened in 1913"],
            [("Verdane Bridge is long.", None), ("Verdane Bridge opened in 1913", None)],
            id="no subject at all",
        ),
        pytest.param(
            ["The toll was 2 crowns.", "They doubled it later."],
            ["The toll was 2 crowns.", "They doubled it later."],
            [("The toll was 2 crowns.", None), ("They doubled it later.", "unresolved")],
            id="a pronoun for nobody that was named",
        ),
        pytest.param(
            ["They doubled it later."],
            ["doubled it later"],
            [("doubled it later", "unresolved")],
            id="neither subject nor name",
        ),
        pytest.param(
            ["The company was sold, and it closed."],
            ["The company was sold."],
            [("The company was sold.", None)],
            id="one that stands alone",
        ),
    ],
)
def test_claims_that_lack_a_subject(
    sentences: list[str], replies: list[str], claims: list[tuple[str, str | None]]
) -> None:
    """They get the one that the text shows; where it shows none they are never judged (C24)."""
    answers = iter(replies)
    llm = FakeLlm({"claims": lambda _: claims_reply([(1, next(answers))])})
    items = split(draft(*sentences), llm).items
    assert [(claim.text, claim.unverifiable) for claim in items] == claims


def test_pronouns_within_a_sentences_claims() -> None:
    """A later claim of the same sentence may say "she" of the subject of an earlier one."""
    sentence = "Marie Curie moved to Paris in 1891 and won two prizes."
    llm = FakeLlm({"claims": claims_reply([(1, "Marie Curie moved to Paris in 1891."), (1, "She won two prizes.")])})
    items = split(draft(sentence), llm).items
    assert [claim.text for claim in items] == ["Marie Curie moved to Paris in 1891.", "Marie Curie won two prizes."]


def test_unverifiable_sentences_are_not_asked_about() -> None:
    """They stand as one claim each, in their places, and the numbers run over the others."""
    sentences = draft("A is.", "B is.", "C is.", "D is.", "E is.", "F is.", "G is.")
    for index, reason in ((0, "language"), (5, "unsplit"), (6, "truncated")):
        sentence = sentences[index]
        sentences[index] = Sentence(index, sentence.span, sentence.text, unverifiable=reason)  # type: ignore[arg-type]
    llm = FakeLlm({"claims": echo})
    assert said(split(sentences, llm)) == [
        (0, "A is.", "language"),
        *((index, f"{letter} is.", None) for index, letter in enumerate("BCDE", 1)),
        (5, "F is.", "unsplit"),
        (6, "G is.", "truncated"),
    ]
    assert [[text for _, text in NUMBERED.findall(asked)] for asked in llm.texts("claims")] == [
        ["B is."], ["C is."], ["D is."], ["E is."],
    ]  # fmt: skip


@pytest.mark.parametrize("reply", ["[]", '[""]', '["  "]', '{"claims": []}', '{"claims": [], "none": [1]}'])
def test_no_claims(reply: str) -> None:
    """A reply that finds none leaves nothing to be judged (C26)."""
    assert split(draft("Lovely it is."), FakeLlm({"claims": reply})) == Claims(())


@pytest.mark.parametrize(
    "bad", [LlmCallFailed("refused"), "I cannot help with that.", "", Reply('{"claims": [', complete=False)], ids=str
)
def test_one_failed_call_fails_the_choice(bad: str | Reply | Exception) -> None:
    """A call that fails or cannot be read is a value, whatever the other calls say (C17)."""
    llm = FakeLlm({"claims": [claims_reply([(1, "A is.")]), bad]})
    assert isinstance(asyncio.run(decompose(each(draft("A is.", "B is.")), llm, BUDGET)), ClaimsFailed)


def test_a_failure_ends_the_other_calls() -> None:
    """Once a call has failed, those still waiting are cancelled and no later sentence is asked about."""

    async def run() -> tuple[Claims | ClaimsFailed, int]:
        never = Gate()
        llm = FakeLlm({"claims": [LlmCallFailed("refused")]})

        async def sentences() -> AsyncIterator[Sentence]:
            yield draft("A is.")[0]
            await never.wait()

        return await decompose(sentences(), llm, BUDGET), len(llm.asks)

    failed, calls = asyncio.run(run())
    assert isinstance(failed, ClaimsFailed)
    assert calls == 1


def test_sentences_are_asked_about_while_the_draft_grows() -> None:
    """The first call goes out before the second sentence comes."""

    async def run() -> list[int]:
        llm = FakeLlm({"claims": echo})
        seen: list[int] = []

        async def sentences() -> AsyncIterator[Sentence]:
            for sentence in draft("A is.", "B is.", "C is."):
                seen.append(len(llm.asks))
                yield sentence
                await asyncio.sleep(0)

        await decompose(sentences(), llm, BUDGET)
        return seen

    assert asyncio.run(run()) == [0, 1, 2]


@pytest.mark.parametrize(
    "reply", [Reply(claims_reply([(1, "A is.")]), complete=False), '{"claims": [{"sentence": 1, "text": "A is."}, {"se']
)
def test_a_cut_reply(reply: str | Reply) -> None:
    """What is whole counts, and the choice knows that there may have been more (C25)."""
    claims = split(draft("A is."), FakeLlm({"claims": reply}))
    assert said(claims) == [(0, "A is.", None)]
    assert claims.incomplete


BRIDGE = draft("Verdane Bridge opened in 1913.", "It is 340 metres long.", "There, the toll was 2 crowns.")


@pytest.mark.parametrize(
    ("reply", "expected", "dropped"),
    [
        pytest.param(
            read((3, "The toll on Verdane Bridge was 2 crowns."), (1, "Verdane Bridge opened in 1913."), none=[2]),
            [
                (0, "Verdane Bridge opened in 1913.", None),
                (2, "The toll on Verdane Bridge was 2 crowns.", None),
            ],
            0,
            id="in the order of the draft",
        ),
        pytest.param(
            read((None, "Verdane Bridge opened in 1913."), (None, "Verdane Bridge is 340 metres long."), none=[3]),
            [(0, "Verdane Bridge opened in 1913.", None), (1, "Verdane Bridge is 340 metres long.", None)],
            0,
            id="without numbers",
        ),
        pytest.param(
            read((9, "Its toll was 2 crowns."), none=[1, 2]),
            [(2, "Its toll was 2 crowns.", None)],
            0,
            id="a number out of range",
        ),
        pytest.param(
            read((2, "The toll was 2 crowns."), none=[1, 2]),
            [(2, "The toll was 2 crowns.", None)],
            0,
            id="a number whose sentence shares no word",
        ),
        pytest.param(
            read((1, "Verdane Bridge opened in 1913."), (1, "verdane bridge opened in 1913."), none=[2, 3]),
            [(0, "Verdane Bridge opened in 1913.", None)],
            0,
            id="said twice",
        ),
        pytest.param(
            read((1, "Verdane Bridge opened in 1913."), none=[2]),
            [(0, "Verdane Bridge opened in 1913.", None), (2, "There, the toll was 2 crowns.", "unresolved")],
            0,
            id="a sentence left out",
        ),
        pytest.param(
            read((1, "Paris lies on a river."), (1, "Verdane Bridge opened in 1920."), none=[2, 3]),
            [(0, "Verdane Bridge opened in 1913.", "unresolved")],
            2,
            id="foreign words or numbers",
        ),
        pytest.param(
            read((1, "Verdane Bridge opened in 1913."), (1, "Paris lies on a river."), none=[2, 3]),
            [(0, "Verdane Bridge opened in 1913.", None)],
            1,
            id="one of two dropped",
        ),
        pytest.param(
            read((2, "Paris lies on a river."), none=[1, 2, 3]),
            [(1, "It is 340 metres long.", "unresolved")],
            1,
            id="dropped, and said to state nothing",
        ),
        pytest.param(
            read((2, "In 1913, Verdane Bridge was 340 metres long."), none=[1, 3]),
            [(1, "In 1913, Verdane Bridge was 340 metres long.", None)],
            0,
            id="a number from the text before",
        ),
        pytest.param(read(none=None), [], 0, id="no claim at all"),
        pytest.param(
            read(none=[]),
            [(s.index, s.text, "unresolved") for s in BRIDGE],
            0,
            id="every sentence in neither list",
        ),
    ],
)
def test_anchors(reply: ReadReply, expected: list[tuple[int, str, str | None]], dropped: int) -> None:
    """Each claim is given to a sentence that can have stated it, or dropped and counted; no sentence gets lost."""
    claims = anchor_claims(reply, BRIDGE)
    assert said(claims) == expected
    assert claims.dropped == dropped


def test_numbers_of_the_text_before_a_pack() -> None:
    """What a claim takes from the context may stand in an earlier pack."""
    reply = read((1, "In 1913, Verdane Bridge was 340 metres long."))
    assert said(anchor_claims(reply, BRIDGE[1:2])) == [(1, "It is 340 metres long.", "unresolved")]
    assert len(anchor_claims(reply, BRIDGE[1:2], BRIDGE[:1]).items) == 1


WORDS = st.sampled_from(["Verdane", "bridge", "opened", "1913", "toll", "2 crowns", "long", "Paris"])
TEXT = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
SENTENCES = st.lists(TEXT, min_size=1, max_size=24).map(lambda texts: draft(*texts))


@settings(deadline=None)
@given(
    SENTENCES,
    st.lists(st.tuples(st.none() | st.integers(0, 30), TEXT), max_size=12),
    st.none() | st.frozensets(st.integers(0, 30)),
    st.data(),
)
def test_everything_is_accounted_for(
    sentences: list[Sentence], stated: list[tuple[int | None, str]], none: frozenset[int] | None, data: st.DataObject
) -> None:
    """Every claim of any reply is anchored or dropped, every sentence has claims or is said to have none."""
    for index in data.draw(st.sets(st.integers(0, len(sentences) - 1))):
        sentence = sentences[index]
        sentences[index] = Sentence(index, sentence.span, sentence.text, unverifiable="language")
    claims = anchor_claims(ReadReply(tuple(stated), none, cut=False), sentences)
    own = [claim for claim in claims.items if claim.unverifiable is None]
    told = {text.casefold() for _, text in stated}
    assert {claim.text.casefold() for claim in own} <= told
    assert len({claim.text.casefold() for claim in own}) + claims.dropped >= len(told)
    assert len(own) + claims.dropped <= len(stated)
    order = [claim.sentence.index for claim in claims.items]
    assert order == sorted(order)
    askable = [sentence for sentence in sentences if sentence.unverifiable is None]
    for number, sentence in enumerate(askable, 1):
        mine = [claim for claim in claims.items if claim.sentence.index == sentence.index]
        listed = number in none if none is not None else not stated
        assert mine or listed
        assert all(claim.unverifiable is None for claim in mine) or mine == [
            Claim(sentence.text, sentence, "unresolved")
        ]
    for sentence in sentences:
        if sentence.unverifiable is not None:
            assert Claim(sentence.text, sentence, sentence.unverifiable) in claims.items


@settings(max_examples=50, deadline=None)
@given(SENTENCES, st.integers(0, 8), st.integers(1, 30), st.data())
def test_however_slowly_the_sentences_come(
    sentences: list[Sentence], calls: int, limit: int, data: st.DataObject
) -> None:
    """A streamed draft leads to the same calls and the same claims as a whole one."""
    pauses = data.draw(st.lists(st.integers(0, 5), min_size=len(sentences), max_size=len(sentences)))
    budget = Budget(calls, limit)

    async def run(pauses: Sequence[int]) -> tuple[Claims | ClaimsFailed, list[Ask]]:
        llm = FakeLlm({"claims": echo})
        return await decompose(each(sentences, pauses), llm, budget), llm.asks

    async def run_both() -> None:
        assert await run(pauses) == await run(())

    asyncio.run(run_both())
