"""The measure of help and harm: composition, one answer's trial, the counts; the scorer is a fake."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from evaluation.answers import Answer, Label, Statement, count_labels, place_sentences
from evaluation.composites import SIZES, FeverClaim, compose_answers, read_fever
from evaluation.harm import RULES, measure_identity, run_trials, summarise
from evaluation.memory import RememberingNli
from evaluation.tally import count_outcomes
from evaluation.trial import FLAG_SHARE, OracleLlm, Outcome, Trial, is_intact, try_lines
from evaluation.wikibio import read_passages
from fakes import FakeNli, compare_words
from proxy.claims.claim import Claim
from proxy.nli.scoring import Pair
from proxy.reassembly import AppliedEdit, EditedText
from proxy.settings import Settings
from proxy.verdict import Line

LINE = Line("bounded", 0.7, 0.5, 0.9)
FACTS = ("Verdane Bridge opened in 1913.", "Verdane Bridge is 340 metres long.", "Verdane Bridge cost 7 crowns.")


def pool() -> list[FeverClaim]:
    """Return thirty claims of three pages, ten of them false and ten open."""
    labels: list[Label] = ["true", "false", "open"]
    return [
        FeverClaim(
            str(at), f"Claim {at} is here.", labels[at % 3], (f"Fact {at}.", "A fact of all."), f"page {at // 10}"
        )
        for at in range(30)
    ]


def answer(*statements: tuple[str, Label, Sequence[str]]) -> Answer:
    """Return an answer to be held against the bridge's facts: each statement with its label and its evidence."""
    text = " ".join(said for said, _, _ in statements)
    sentences = place_sentences(text, [said for said, _, _ in statements])
    made = tuple(
        Statement(str(at), sentence, (Claim(said, sentence),), label, tuple(evidence))
        for at, (sentence, (said, label, evidence)) in enumerate(zip(sentences, statements, strict=True))
    )
    return Answer("one subject", text, made, FACTS)


BRIDGE = answer(
    ("Verdane Bridge opened in 1931.", "false", FACTS[:1]),
    ("Verdane Bridge is 340 metres long.", "true", FACTS[1:2]),
    ("Verdane Bridge cost 9 crowns.", "false", ("The crowns were old.",)),
    ("Verdane Bridge is blue.", "open", ()),
    ("Verdane Bridge opened in 1913.", "true", FACTS[:1]),
)


def test_composites_hold_what_was_drawn() -> None:
    """Every size and kind comes as often; text, places, labels and reference belong to the same claims."""
    answers = compose_answers(pool(), a_size=3, false_share=0.3, seed=1)
    assert Counter((one.kind, one.size) for one in answers if one.kind == "mixed subjects") == {
        ("mixed subjects", size): 3 for size in SIZES
    }
    by_id = {claim.id: claim for claim in pool()}
    for one in answers:
        claims = [by_id[statement.source] for statement in one.statements]
        assert len({claim.id for claim in claims}) == one.size
        assert one.text == " ".join(claim.text for claim in claims)
        assert one.reference == tuple(dict.fromkeys(fact for claim in claims for fact in claim.evidence))
        for statement, claim in zip(one.statements, claims, strict=True):
            start, end = statement.sentence.span
            assert one.text[start:end] == statement.sentence.text == claim.text
            assert statement.label == claim.label
            assert sorted(statement.evidence) == sorted(claim.evidence)
        assert one.kind == "mixed subjects" or len({claim.page for claim in claims}) == 1


def test_composites_are_the_same_for_the_same_seed() -> None:
    """A measurement can be repeated, and another sample taken."""
    first = compose_answers(pool(), a_size=1, false_share=0.2, seed=1)
    assert first == compose_answers(pool(), a_size=1, false_share=0.2, seed=1)
    assert first != compose_answers(pool(), a_size=1, false_share=0.2, seed=2)


def test_the_share_of_false_claims() -> None:
    """Without false claims there is none; with a share of 0.3 about so many of some thousand."""
    assert count_labels(compose_answers(pool(), a_size=5, false_share=0.0, seed=3))["false"] == 0
    counts = count_labels(compose_answers(pool() * 10, a_size=20, false_share=0.3, seed=3))
    assert counts["false"] / sum(counts.values()) == pytest.approx(0.3, abs=0.04)
    assert counts["open"] / sum(counts.values()) == pytest.approx(0.1, abs=0.03)


def test_fever_is_read(tmp_path: Path) -> None:
    """The three labels, the evidence and the page come out of a line."""
    row = {"id": 7, "claim": "A.", "label": "REFUTES", "evidence": ["B.", "C."], "pages": ["P", "Q"]}
    file = tmp_path / "fever.jsonl"
    file.write_text(json.dumps(row) + "\n" + json.dumps(row | {"label": "NOT ENOUGH INFO"}) + "\n")
    assert read_fever(file) == [
        FeverClaim("7", "A.", "false", ("B.", "C."), "P"),
        FeverClaim("7", "A.", "open", ("B.", "C."), "P"),
    ]


def test_passages_are_read(tmp_path: Path) -> None:
    """WikiBio's sentences stand where they do in the passage, split as the product does; other rows are left out."""
    sentences = ["Ann Lee was born in 1950.", "She was a painter and taught music."]
    detail = {
        "wiki_bio_test_idx": 3,
        "reference": "Ann Lee was born in 1951. Ann Lee was a painter.",
        "sentences": [
            {"sentence": sentences[0], "label": "major_inaccurate"},
            {"sentence": sentences[1], "label": "accurate"},
        ],
    }
    row = {"source": "wikibio_gpt3", "answer": "  ".join(sentences), "detail": detail}
    file = tmp_path / "answers.jsonl"
    file.write_text(json.dumps(row) + "\n" + json.dumps({"source": "other", "answer": "wikibio_gpt3"}) + "\n")
    [passage] = read_passages(file)
    assert passage.kind == "wikibio"
    assert [statement.label for statement in passage.statements] == ["false", "true"]
    assert [passage.text[slice(*statement.sentence.span)] for statement in passage.statements] == sentences
    assert passage.reference == ("Ann Lee was born in 1951.", "Ann Lee was a painter.")
    assert passage.statements[0].evidence[0] == "Ann Lee was born in 1951."
    assert passage.statements[1].claims[0].text.startswith("Ann Lee was a painter")


@pytest.mark.anyio
async def test_a_pair_is_scored_once() -> None:
    """Equal pairs, in one call or in several, are asked for once and answered alike."""
    inner = FakeNli(compare_words)
    nli = RememberingNli(inner)
    one, other = Pair("A b 1.", "A b 1."), Pair("A b 1.", "A b 2.")
    first = await nli.score([one, other, one])
    assert await nli.score([other, one]) == [first[1], first[0]]
    assert first[0] == first[2]
    assert inner.pairs == [one, other]
    assert nli.pairs == 2
    assert nli.count_tokens("a b") == 2
    assert (nli.name, nli.languages, nli.max_tokens, nli.tau_floor, nli.tau_ceiling) == (
        inner.name,
        inner.languages,
        inner.max_tokens,
        inner.tau_floor,
        inner.tau_ceiling,
    )


@pytest.mark.anyio
async def test_a_trial() -> None:
    """Both false claims are marked, the one whose evidence corrects it is rewritten, nothing else is touched."""
    (trial,) = await try_lines(BRIDGE, FakeNli(compare_words), [LINE])
    assert [(outcome.label, outcome.marked, outcome.rewritten) for outcome in trial.outcomes] == [
        ("false", True, True),
        ("true", False, False),
        # The oracle has nothing of use, and the product takes the reference's own sentence.
        ("false", True, True),
        ("open", False, False),
        ("true", False, False),
    ]
    assert trial.intact
    assert (trial.size, trial.kind, trial.line) == (5, "one subject", LINE)


@pytest.mark.anyio
async def test_rules_differ() -> None:
    """A lone false claim among five is found by `bounded` and `fixed` and is beyond the published line's reach."""
    lone = answer(*[(fact, "true", (fact,)) for fact in FACTS], ("Verdane Bridge opened in 1931.", "false", FACTS[:1]))
    lines = [Line(rule, 0.7, 0.5, 0.9) for rule in RULES]
    trials = await try_lines(lone, FakeNli(compare_words), lines)
    marked = {trial.line.rule: trial.outcomes[-1].marked for trial in trials}
    assert marked == {"bounded": True, "paper": False, "fixed": True}


@pytest.mark.anyio
async def test_a_suspect_reference_marks_nothing() -> None:
    """Where most claims are contradicted the product edits nothing, and so nothing is marked."""
    wrong: list[tuple[str, Label, Sequence[str]]] = [
        (f"Verdane Bridge opened in {year}.", "false", FACTS[:1]) for year in range(1931, 1935)
    ]
    (trial,) = await try_lines(answer(*wrong), FakeNli(compare_words), [LINE])
    assert not any(outcome.marked for outcome in trial.outcomes)


@pytest.mark.anyio
async def test_the_oracle_knows_only_the_evidence() -> None:
    """It offers one evidence sentence after the other, and then nothing."""
    oracle = OracleLlm(Statement("1", BRIDGE.statements[0].sentence, (), "false", ("First.", "Second.")))
    assert [(await oracle.ask("correction", "", "")).text for _ in range(3)] == ["First.", "Second.", ""]


def test_the_flag_share_is_the_products() -> None:
    """What is measured is what is served."""
    assert Settings().flag_share == FLAG_SHARE


DRAFT = "One is here. Two is here. Three."
SECOND = AppliedEdit("Two is here.", "2.", (13, 25), (13, 15))


@pytest.mark.parametrize(
    ("text", "edits", "intact"),
    [
        (DRAFT, (), True),
        ("One is here. 2. Three.", (SECOND,), True),
        ("One is here. 2.  Three.", (SECOND,), False),
        ("one is here. 2. Three.", (SECOND,), False),
        ("One is here. 2. Three", (SECOND,), False),
        ("2. Two is here. Three.", (AppliedEdit("One is here.", "2.", (0, 12), (0, 2)),), False),
    ],
)
def test_what_counts_as_intact(text: str, edits: tuple[AppliedEdit, ...], intact: bool) -> None:
    """One changed blank, letter or mark outside a marked sentence is enough to fail, and so is an edit elsewhere."""
    assert is_intact(DRAFT, EditedText((text,), edits), [(13, 25)]) is intact


def outcome(source: str, label: Label, *, marked: bool = False, rewritten: bool = False) -> Outcome:
    return Outcome(source, label, marked, rewritten)


def test_counting() -> None:
    """Found, precision with and without open ones, harm and the rest, each over what it is a share of."""
    figures = count_outcomes(
        [
            outcome("a", "false", marked=True, rewritten=True),
            outcome("a", "false", marked=True),
            outcome("b", "false"),
            outcome("b", "false", marked=True),
            outcome("c", "true", marked=True, rewritten=True),
            outcome("c", "true"),
            outcome("d", "true"),
            outcome("d", "true"),
            outcome("e", "open", marked=True),
            outcome("e", "open"),
        ]
    )
    assert (figures.statements, figures.sources) == (10, 5)
    assert figures.base_rate.value == pytest.approx(4 / 10)
    assert figures.found.value == pytest.approx(3 / 4)
    assert figures.precision.value == pytest.approx(3 / 4)
    assert figures.strict_precision.value == pytest.approx(3 / 5)
    assert figures.harm.value == pytest.approx(1 / 4)
    assert figures.open_marked.value == pytest.approx(1 / 2)
    assert figures.made_true.value == pytest.approx(1 / 4)
    # Of the two sources of false claims either may be drawn twice: 2 of 2 found, or 1 of 2.
    assert (figures.found.low, figures.found.high) == (0.5, 1.0)


@pytest.mark.anyio
async def test_the_summary() -> None:
    """The JSON has each rule with its five figures; what cannot be measured is null."""
    small = answer(("Verdane Bridge opened in 1931.", "false", FACTS[:1]), ("Verdane Bridge is blue.", "open", ()))
    summary = summarise(await run_trials([BRIDGE, BRIDGE, small], FakeNli(compare_words)))
    assert set(summary) == {"bounded", "paper", "fixed"}
    assert summary["bounded"] == {
        "edit_precision": 1.0,
        "harm": 0.0,
        "found": 1.0,
        "found_n4plus": 1.0,
        "untouched_identity": 1.0,
    }
    nothing: list[Trial] = []
    assert set(summarise(nothing)["paper"].values()) == {None}
    assert measure_identity([Trial(LINE, "wikibio", 1, (), True), Trial(LINE, "wikibio", 1, (), False)]) == 0.5
