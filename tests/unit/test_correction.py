"""The ladder of contract 7: the model's sentence, one retry, the reference's sentence, else the draft as it stands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from fakes import Ask, FakeLlm, FakeNli, Gate, compare_words, signed
from proxy.claims.claim import Claim, Sentence, Unverifiable
from proxy.claims.segment import split_sentences
from proxy.correction import Corrector, hold_back, plan_revisions, read_sentence, settle_edits
from proxy.errors import LlmCallFailed, NliBusy
from proxy.matching import Matcher, RequestTexts, read_context
from proxy.nli.scoring import score_claim
from proxy.prompts.correction import INSTRUCTION
from proxy.services import Reply, Task
from proxy.verdict import Flag, Ruling, Verdict
from proxy.wire import Choice, read_completion

FALSE, RIGHT = "Verdane Bridge opened in 1931.", "Verdane Bridge opened in 1913."
LONG = "Verdane Bridge is 340 metres long."
BOTH_OLD = "Verdane Bridge opened in 1931 and is 340 metres long."
BOTH_NEW = "Verdane Bridge opened in 1913 and is 340 metres long."
DRAFT = f"{FALSE} {LONG} The toll was 3 crowns."
FACTS = (RIGHT, LONG, "The toll was 2 crowns.")


def verdict(
    sentence: Sentence, ruling: Ruling = "contradicted", *, text: str | None = None, reason: Flag | None = None
) -> Verdict:
    """Return a verdict on a claim of this sentence, by default the whole of it."""
    score = score_claim(["premise"], [signed(-0.95 if ruling == "contradicted" else 0.95)])
    return Verdict(Claim(text or sentence.text, sentence), score, ruling, reason)


def unverifiable(sentence: Sentence, why: Unverifiable) -> Verdict:
    return Verdict(Claim(sentence.text, sentence, why), None, "unverifiable", why)


@dataclass
class Case:
    """One draft to be corrected, and what its correction came to."""

    draft: str
    verdicts: Sequence[Verdict]
    reference: tuple[str, ...] = FACTS
    texts: RequestTexts = field(default_factory=lambda: RequestTexts((), ()))
    nli: FakeNli = field(default_factory=lambda: FakeNli(compare_words))
    context: tuple[str, ...] = ()

    def correct(self, llm: FakeLlm, *, budget_s: float = 20) -> list[tuple[str, str]]:
        """Return the edits as pairs of the old sentence and the new."""
        revisions = plan_revisions(self.verdicts, split_sentences(self.draft))
        corrector = Corrector(
            Matcher(self.nli, [self.reference], read_context(self.context, self.nli)), llm, self.texts, floor=0.6
        )

        async def run() -> list[tuple[str, str]]:
            deadline = asyncio.get_running_loop().time() + budget_s
            edits = await corrector.correct(revisions, deadline=deadline)
            return [(edit.sentence.text, edit.after) for edit in edits]

        return asyncio.run(run())


def whole(draft: str, **options: object) -> Case:
    """Return a case in which every sentence of the draft is one contradicted claim."""
    return Case(draft, [verdict(sentence) for sentence in split_sentences(draft)], **options)  # type: ignore[arg-type]


def compound(*others: Verdict) -> Case:
    """Return a case whose one sentence holds a contradicted claim and a kept one."""
    (sentence,) = split_sentences(BOTH_OLD)
    return Case(BOTH_OLD, [verdict(sentence, text=FALSE), verdict(sentence, "accepted", text=LONG), *others])


def test_the_models_sentence() -> None:
    """A rewrite that passes is used, after one call."""
    llm = FakeLlm({"correction": RIGHT})
    assert whole(FALSE).correct(llm) == [(FALSE, RIGHT)]
    (ask,) = llm.asks
    assert (ask.task, ask.instruction) == ("correction", INSTRUCTION)


def test_the_question() -> None:
    """The sentence stands verbatim on a line of its own, with its contradicted claims and the facts (contract, 10)."""
    llm = FakeLlm({"correction": BOTH_NEW})
    assert compound().correct(llm) == [(BOTH_OLD, BOTH_NEW)]
    assert llm.asks[0].text == (
        "Reference:\n- Verdane Bridge opened in 1913.\n- Verdane Bridge is 340 metres long.\n- The toll was 2 crowns.\n"
        f"\nContradicted claims:\n- {FALSE}\n\nSentence:\n{BOTH_OLD}\n"
    )


def test_a_long_reference() -> None:
    """Of a long reference the question holds the twelve nearest sentences, in its order."""
    others = tuple(f"The tower number {n} stands on a hill." for n in range(40))
    llm = FakeLlm({"correction": RIGHT})
    assert whole(FALSE, reference=(*others[:20], LONG, RIGHT, *others[20:])).correct(llm) == [(FALSE, RIGHT)]
    facts = [line for line in llm.asks[0].text.split("\n\n")[0].splitlines() if line.startswith("- ")]
    assert len(facts) == 12
    assert facts.index(f"- {LONG}") < facts.index(f"- {RIGHT}")


TO_1920 = "Verdane Bridge opened in 1920."


def test_a_context_that_contradicts_stands_alone() -> None:
    """The question holds no recalled fact where the context says what is wrong; by the recall nothing is borne out."""
    llm = FakeLlm({"correction": [RIGHT, TO_1920]})
    assert whole(FALSE, context=(TO_1920,)).correct(llm) == [(FALSE, TO_1920)]
    reference = llm.asks[0].text.partition("Contradicted claims:")[0]
    assert reference == f"Reference:\n- {TO_1920}\n\n"


def test_a_silent_context_stands_before_the_recall() -> None:
    """Where the context does not say, the question holds both, and a word of either is no foreign one."""
    llm = FakeLlm({"correction": RIGHT})
    assert whole(FALSE, context=("The tower is high.",)).correct(llm) == [(FALSE, RIGHT)]
    assert llm.asks[0].text.startswith("Reference:\n- The tower is high.\n- Verdane Bridge opened in 1913.\n")


def test_the_contexts_own_sentence() -> None:
    """The last rung is the context's sentence where it contradicts the claim, not the recall's."""
    llm = FakeLlm({"correction": "No."})
    assert whole(FALSE, context=(f"{TO_1920} It is red.",)).correct(llm) == [(FALSE, TO_1920)]


def test_one_retry() -> None:
    """A refused rewrite is followed by one more question, which names it, for the same one has the same answer."""
    llm = FakeLlm({"correction": ["Verdane Bridge opened in 1920.", RIGHT]})
    assert whole(FALSE).correct(llm) == [(FALSE, RIGHT)]
    first, second = llm.texts("correction")
    assert "1920" not in first
    assert "- Verdane Bridge opened in 1920.\n" in second
    assert f"\n{FALSE}\n" in second


def test_then_the_reference_sentence() -> None:
    """Where no rewrite passes, a sentence of a single claim gives way to the reference's sentence on it (C39)."""
    llm = FakeLlm({"correction": "Verdane Bridge opened in 1920."})
    assert whole(FALSE).correct(llm) == [(FALSE, RIGHT)]
    assert len(llm.asks) == 2


@pytest.mark.parametrize("answer", [LlmCallFailed("refused"), Reply(RIGHT[:-5], complete=False), "", FALSE], ids=str)
def test_whatever_the_model_does(answer: str | Reply | Exception) -> None:
    """A call that fails, is cut, says nothing or changes nothing leaves the reference's sentence too."""
    assert whole(FALSE).correct(FakeLlm({"correction": answer})) == [(FALSE, RIGHT)]


def test_a_cut_rewrite_is_refused() -> None:
    """A reply that was cut is no sentence, even where it looks like one."""
    llm = FakeLlm({"correction": Reply(BOTH_NEW, complete=False)})
    assert compound().correct(llm) == []


def test_no_calls_left() -> None:
    """With the request's calls spent, the reference's sentence is what is left."""
    assert whole(FALSE).correct(FakeLlm({"correction": RIGHT}, max_calls=0)) == [(FALSE, RIGHT)]


def bad() -> FakeLlm:
    return FakeLlm({"correction": "Verdane Bridge opened in 1920."})


def test_no_fallback_for_several_claims() -> None:
    """A sentence that states more than the contradicted claim stays as it is: the fallback would drop the rest."""
    assert compound().correct(bad()) == []
    (sentence,) = split_sentences(BOTH_OLD)
    case = Case(BOTH_OLD, [verdict(sentence, text=FALSE), unverifiable(sentence, "contested")])
    assert case.correct(bad()) == []


@pytest.mark.parametrize(
    "draft",
    [
        "**Verdane Bridge** opened in 1931.",
        "Verdane Bridge opened in 1931 [2].",
        "[Verdane Bridge](https://e.test) opened in 1931.",
        "_Verdane Bridge_ opened in 1931.",
        "Verdane Bridge opened in 1931",
        'Verdane Bridge, called "the Old", opened in 1931.',
    ],
)
def test_no_fallback_for_marks(draft: str) -> None:
    """The reference's sentence has none of the sentence's marks, so that it cannot stand for it."""
    assert whole(draft).correct(bad()) == []


@pytest.mark.parametrize(
    ("reference", "texts"),
    [
        ((LONG, "The toll was 2 crowns."), RequestTexts((), ())),
        (("The Tower opened in 1913.",), RequestTexts((), ())),
        ((RIGHT,), RequestTexts(("Verdane Bridge opened in 1925.",), ())),
        ((), RequestTexts((), ())),
    ],
    ids=["no fact on it", "another subject", "against the request", "no reference"],
)
def test_the_fallback_under_the_same_test(reference: tuple[str, ...], texts: RequestTexts) -> None:
    """The reference's sentence has to contradict the claim, share its subject and pass as any rewrite (C44)."""
    assert whole(FALSE, reference=reference, texts=texts).correct(bad()) == []


def test_sentences_by_themselves() -> None:
    """All sentences are corrected at once, each by its own; one that fails leaves the others their edits (C38)."""

    def answer(ask: Ask) -> str:
        return RIGHT if FALSE in ask.text.splitlines() else "The toll was 9 crowns."

    sentences = split_sentences(DRAFT)
    case = Case(DRAFT, [verdict(sentences[0]), verdict(sentences[1], "accepted"), verdict(sentences[2])], FACTS[:2])
    assert case.correct(FakeLlm({"correction": answer})) == [(FALSE, RIGHT)]
    gate = Gate(parties=2)
    together = replace(case, reference=FACTS)
    assert together.correct(FakeLlm({"correction": answer}, gate=gate)) == [
        (FALSE, RIGHT),
        ("The toll was 3 crowns.", "The toll was 2 crowns."),
    ]


class Stuck(FakeLlm):
    """A model that never answers about the toll."""

    async def ask(self, task: Task, instruction: str, text: str) -> Reply:
        """Hang, or answer as told."""
        if "The toll was 3 crowns." in text.splitlines():
            await Gate().wait()
        return await super().ask(task, instruction, text)


def test_the_deadline_keeps_finished_edits() -> None:
    """What is not finished in time is left out; the edits that are stand (contract, section 8)."""
    sentences = split_sentences(DRAFT)
    case = Case(DRAFT, [verdict(sentences[0]), verdict(sentences[2])])
    assert case.correct(Stuck({"correction": RIGHT}), budget_s=0.3) == [(FALSE, RIGHT)]
    late = FakeLlm({"correction": RIGHT})
    assert case.correct(late, budget_s=0) == []
    assert late.asks == []


def test_nothing_outlives_the_deadline() -> None:
    """Corrections that hang are cancelled with it."""

    async def run() -> int:
        corrector = Corrector(Matcher(FakeNli(), [FACTS]), FakeLlm(gate=Gate()), RequestTexts((), ()), 0.6)
        (sentence,) = split_sentences(FALSE)
        deadline = asyncio.get_running_loop().time() + 0.05
        await corrector.correct(plan_revisions([verdict(sentence)], [sentence]), deadline=deadline)
        return len(asyncio.all_tasks())

    assert asyncio.run(run()) == 1


def test_a_failing_nli_leaves_the_sentence() -> None:
    """A rewrite that cannot be checked is not used."""
    case = whole(FALSE, nli=FakeNli(failure=NliBusy("full")))
    assert case.correct(FakeLlm({"correction": RIGHT})) == []


def test_nothing_to_correct() -> None:
    """Without a contradicted claim no call is made."""
    llm = FakeLlm()
    (sentence,) = split_sentences(FALSE)
    assert Case(FALSE, [verdict(sentence, "accepted")]).correct(llm) == []
    assert llm.asks == []


def test_plans() -> None:
    """Sentences with contradicted claims that may be edited; all of a sentence's claims or none."""
    sentences = split_sentences(" ".join(f"Fact {n} holds." for n in range(20)))
    verdicts = [
        verdict(sentences[1], "accepted"),
        verdict(sentences[15], text="A."),
        verdict(sentences[15], "neutral", text="B."),
        verdict(sentences[15], text="C."),
        unverifiable(sentences[15], "too_many"),
        verdict(sentences[16], text="D."),
        verdict(sentences[16], text="E.", reason="user_premise"),
        verdict(sentences[17], text="F."),
        verdict(sentences[18], reason="detect"),
    ]
    first, second = plan_revisions(verdicts, sentences)
    assert first.sentence == sentences[15]
    assert [claim.text for claim in first.contradicted] == ["A.", "C."]
    assert [claim.text for claim in first.kept] == ["B."]
    assert first.before == tuple(sentences[3:15])
    assert (first.single, second.single) == (False, True)
    assert second.sentence == sentences[17]


def choice(*parts: str) -> Choice:
    content = [{"type": "text", "text": part} for part in parts]
    read = read_completion(json.dumps({"choices": [{"message": {"content": content}}]}).encode())
    assert read is not None
    return read.choices[0]


def held(*parts: str) -> list[Flag | None]:
    """Return the reason given to each sentence of a draft, all of them contradicted."""
    verdicts = [verdict(sentence) for sentence in split_sentences("".join(parts))]
    return [held.reason for held in hold_back(verdicts, choice(*parts))]  # type: ignore[misc]


@pytest.mark.parametrize(
    ("parts", "reasons"),
    [
        ((DRAFT,), [None, None, None]),
        ((f"> {FALSE}\n\n{LONG}",), ["quoted", None]),
        ((f'"{FALSE}"',), ["quoted"]),
        ((f"“{FALSE} {LONG}”",), ["quoted"]),
        ((f"{FALSE} Ver", f"dane Bridge is long. {LONG}"), [None, "correction_failed", None]),
        ((f"{FALSE} ", LONG), [None, None]),
    ],
)
def test_where_nothing_may_be_edited(parts: tuple[str, ...], reasons: list[Flag | None]) -> None:
    """Quotations, block quotes and the seam of two text parts are left alone, and the claims say why."""
    assert held(*parts) == reasons


def test_long_quotations() -> None:
    """A sentence in the middle of a quotation has no mark of its own, and is still not edited."""
    filler = "It is said that the weather was fine on that day and that everybody came. " * 6
    reasons = held(f'"{filler}{FALSE} {filler}" {LONG}')
    assert reasons[-1] is None
    assert set(reasons[:-1]) == {"quoted"}


def test_holding_back_keeps_reasons_and_other_verdicts() -> None:
    """A reason that is there stays; only contradicted claims get one."""
    (sentence,) = split_sentences(f'"{FALSE}"')
    verdicts = [verdict(sentence, reason="detect"), verdict(sentence, "accepted")]
    assert list(hold_back(verdicts, choice(f'"{FALSE}"'))) == verdicts


def test_settling() -> None:
    """Edited claims are corrected; the rest is flagged, all with the one reason of the choice (contract, section 4)."""
    first, second, third = split_sentences(DRAFT)
    verdicts = [verdict(first), verdict(second, "accepted"), verdict(third), verdict(third, reason="user_premise")]
    settled = settle_edits(verdicts, {first.index})
    assert [(v.ruling, v.reason) for v in settled] == [
        ("corrected", None),
        ("accepted", None),
        ("contradicted", "correction_failed"),
        ("contradicted", "correction_failed"),
    ]
    assert [v.reason for v in settle_edits(verdicts, {first.index, third.index})] == [
        None, None, None, "user_premise",
    ]  # fmt: skip


def test_settling_beside_a_quotation() -> None:
    """Where what is wrong may stand in a quotation, that is why the sentence was not corrected."""
    (sentence,) = split_sentences('The film "Jaws 1931" came out late.')
    (settled,) = settle_edits([verdict(sentence, text="The film Jaws 1931 came out late.")], set())
    assert (settled.ruling, settled.reason) == ("contradicted", "quoted")


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (RIGHT, RIGHT),
        (f"  {RIGHT}\n", RIGHT),
        (f'"{RIGHT}"', RIGHT),
        (f"“{RIGHT}”", RIGHT),
        (f"<think>1931? No.</think>\n{RIGHT}", RIGHT),
        ("It opened\nin 1913.", "It opened in 1913."),
        ('"A" is like "B"', '"A" is like "B"'),
        ('"A" is right.', '"A" is right.'),
        ('"', '"'),
        ("", ""),
    ],
)
def test_reading_a_correction(reply: str, sentence: str) -> None:
    """Line breaks, reasoning and quotation marks around the whole are no part of the sentence."""
    assert read_sentence(reply) == sentence
