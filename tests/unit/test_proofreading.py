"""Each condition on a rewrite, alone, is reason enough to refuse it (contract, section 7)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest

from fakes import FakeNli, compare_words, contradicts, entails
from fakes.nli import Score
from proxy.claims.claim import Claim, Sentence
from proxy.errors import NliFailed
from proxy.matching import Matcher, RequestTexts
from proxy.nli.scoring import Probabilities
from proxy.proofreading import Proofreader, Revision, find_quotations, is_quotation, touches_quotation

OLD = "Verdane Bridge opened in 1931 and is 340 metres long."
NEW = "Verdane Bridge opened in 1913 and is 340 metres long."
WRONG = "Verdane Bridge opened in 1931."
LATE = "Verdane Bridge opened late."
KEPT = "Verdane Bridge is 340 metres long."
FACTS = ("Verdane Bridge opened in 1913.", KEPT)
NOTHING = RequestTexts((), ())


@dataclass(frozen=True)
class World:
    """What a rewrite is checked against; in this one `NEW` passes."""

    old: str = OLD
    contradicted: tuple[str, ...] = (WRONG,)
    kept: tuple[str, ...] = (KEPT,)
    before: tuple[str, ...] = ()
    heading: str | None = None
    reference: tuple[str, ...] = FACTS
    nli: Score = compare_words
    texts: RequestTexts = NOTHING
    floor: float = 0.6

    def passes(self, new: str) -> bool:
        """Return whether the rewrite may be used."""
        sentences = [Sentence(i, (0, len(t)), t, self.heading) for i, t in enumerate((*self.before, self.old))]
        sentence = sentences[-1]
        revision = Revision(
            sentence,
            contradicted=tuple(Claim(text, sentence) for text in self.contradicted),
            kept=tuple(Claim(text, sentence) for text in self.kept),
            single=False,
            before=tuple(sentences[:-1]),
        )
        proofreader = Proofreader(Matcher(FakeNli(self.nli), [self.reference]), self.texts, self.floor)
        return asyncio.run(proofreader.passes(new, revision))


def like(word: str, other: str) -> Score:
    """Return an NLI that takes one word in a claim for the other."""

    def compare(premise: str, hypothesis: str) -> Probabilities:
        return compare_words(premise, hypothesis.replace(word, other))

    return compare


def against(hypothesis: str, unless: str | None = None) -> Score:
    """Return an NLI by which all premises contradict this, but for one that entails it."""

    def compare(premise: str, other: str) -> Probabilities:
        if other != hypothesis:
            return compare_words(premise, other)
        return entails() if premise == unless else contradicts()

    return compare


def test_a_right_rewrite_passes() -> None:
    """What the reference says instead is put in, all else is kept."""
    assert World().passes(NEW)


@pytest.mark.parametrize("pronoun", ["It", "There it", "That"])
def test_a_pronoun_that_only_the_model_resolved_is_no_obstacle(pronoun: str) -> None:
    """Where the claims name what the sentence's pronoun stands for, a rewrite may keep the pronoun."""

    def resolve(premise: str, hypothesis: str) -> Probabilities:
        return compare_words(*(text.replace(pronoun, "Verdane Bridge") for text in (premise, hypothesis)))

    before = ("Verdane Bridge and Lorne Tower are old.",)
    world = World(old=f"{pronoun} opened in 1931.", kept=(), before=before, nli=resolve)
    assert world.passes(f"{pronoun} opened in 1913.")
    assert not world.passes(f"{pronoun} opened in 1920.")


def weaken(p: float) -> Score:
    """Return an NLI whose entailments are of this strength."""

    def compare(premise: str, hypothesis: str) -> Probabilities:
        result = compare_words(premise, hypothesis)
        return entails(p) if result.entails else result

    return compare


@pytest.mark.parametrize(
    ("new", "world", "lifted"),
    [
        pytest.param(KEPT, {}, {"contradicted": ()}, id="a deletion"),
        pytest.param(
            "Verdane Bridge opened in 1920 and is 340 metres long.",
            {"nli": like("1920", "1913")},
            {"reference": (*FACTS, "The toll rose in 1920.")},
            id="a new number",
        ),
        pytest.param(
            "Verdane Bridge opened in 1913 and is 340 metres long near Lorne.",
            {"nli": like(" near Lorne", "")},
            {"reference": (*FACTS, "The Lorne is a river.")},
            id="a new name",
        ),
        pytest.param(FACTS[0], {}, {"kept": ()}, id="a kept claim dropped"),
        pytest.param(
            NEW,
            {"contradicted": (LATE,), "nli": against(LATE, unless=NEW)},
            {"nli": against(LATE)},
            id="still the contradicted claim",
        ),
        pytest.param(
            NEW,
            {"texts": RequestTexts(("Verdane Bridge opened in 1925.",), ())},
            {"texts": NOTHING},
            id="against a given text",
        ),
        pytest.param(
            NEW,
            {"texts": RequestTexts((), ("Verdane Bridge opened in 1925.",))},
            {"texts": NOTHING},
            id="against the user",
        ),
        pytest.param(
            "Verdane Bridge opened in 1913 and is 340 metres long and very old.",
            {},
            {"reference": (*FACTS, "Verdane Bridge is very old and long.")},
            id="a claim from nowhere",
        ),
        pytest.param(NEW, {"nli": weaken(0.55)}, {"floor": 0.5}, id="below the floor"),
    ],
)
def test_one_broken_condition_is_enough(new: str, world: dict[str, Any], lifted: dict[str, Any]) -> None:
    """The rewrite breaks this one condition and is refused; where that is lifted, the same rewrite passes."""
    assert not World(**world).passes(new)
    assert World(**(world | lifted)).passes(new)


@pytest.mark.parametrize(
    "new",
    [
        "",
        OLD,
        "Verdane Bridge opened in 1913 and is 340 metres long. It carries trams.",
        f"{NEW} {FACTS[0]}",
        "Verdane Bridge opened in 1913 and cost 9 million and is 340 metres long.",
        "Corrected sentence: Verdane Bridge opened in 1913 and is 340 metres long.",
        "I cannot help with that.",
        "Verdane Bridge opened in 1913 and is 340 metres long!",
        "Verdane Bridge opened in 1913 and is 340 metres long",
        "**Verdane Bridge opened in 1913 and is 340 metres long.**",
        "Verdane Bridge opened in 1913 and is 340 metres long [1].",
    ],
)
def test_what_never_passes(new: str) -> None:
    """Nothing, the same again, more sentences, more facts, talk about the answer, other marks (C39)."""
    assert not World().passes(new)


def test_the_old_sentence_bears_out_what_the_reference_leaves_open() -> None:
    """A claim that the reference says nothing of stands in the rewrite, for the old sentence entails it."""
    assert World(reference=FACTS[:1]).passes(NEW)


def test_two_wrong_claims_want_two_replacements() -> None:
    """Where both claims of a sentence are wrong, deleting one is no correction of it."""
    world = World(
        old="Verdane Bridge opened in 1931 and is 430 metres long.",
        contradicted=(WRONG, "Verdane Bridge is 430 metres long."),
        kept=(),
    )
    assert world.passes(NEW)
    assert not world.passes(FACTS[0])
    assert not world.passes(KEPT)
    assert not world.passes("Verdane Bridge opened in 1913 and is 430 metres long.")


def test_another_fact_is_no_replacement() -> None:
    """What the reference says of something else does not stand for the claim that was wrong."""
    world = World(old=WRONG, kept=())
    assert not world.passes(KEPT)
    assert world.passes(FACTS[0])


def test_pronouns_are_read_in_place() -> None:
    """A pronoun stands for what it stood for in the draft, in the old sentence and in the new one."""
    world = World(old="It opened in 1931 and is 340 metres long.", before=("Verdane Bridge is old.",))
    assert world.passes("It opened in 1913 and is 340 metres long.")


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("- **Opened:** 1931 [2]", "- **Opened:** 1913 [2]", True),
        ("- **Opened:** 1931 [2]", "- **Opened:** 1913", False),
        ("- **Opened:** 1931 [2]", "- **Opened:** 1913 [3]", False),
        ("- **Opened:** 1931 [2]", "- Opened: 1913 [2]", False),
        ("It _opened_ in 1931.", "It _opened_ in 1913.", True),
        ("It _opened_ in 1931.", "It *opened* in 1913.", False),
        ('The "Old Bridge" opened in 1931.', 'The "Old Bridge" opened in 1913.', True),
        ('The "Old Bridge" opened in 1931.', 'The "Opened Bridge" opened in 1913.', False),
        ("The “Old Bridge” opened in 1931.", "The Old Bridge opened in 1913.", False),
        ("In 1931, see [the list](https://e.test/1).", "In 1913, see [the list](https://e.test/1).", True),
        ("In 1931, see [the list](https://e.test/1).", "In 1913, see [the list](https://e.test/2).", False),
        ("It opened in 1931 (https://e.test/a).", "It opened in 1913 (https://e.test/b).", False),
        ("It opened in 1931 with `a=1`.", "It opened in 1913 with `a=1`.", True),
        ("It opened in 1931 with `a=1`.", "It opened in 1913 with `a=3`.", False),
        ("It opened in 1931, $x = 1$.", "It opened in 1913, $x = 3$.", False),
        ("It cost $5 and $6 in 1931.", "It cost $5 and $6 in 1913.", True),
        ("It opened in <b>1931</b>.", "It opened in <b>1913</b>.", True),
        ("It opened in <b>1931</b>.", "It opened in 1913.", False),
        ("It opened in 1931:", "It opened in 1913.", False),
        ("It opened in 1931.", "It opened in 1913.", True),
        ("Opened: 1931", "Opened: 1913", True),
        ("Opened: 1931", "Opened: 1913.", False),
        ("It opened\nin 1931.", "It opened in 1913.", True),
    ],
)  # fmt: skip
def test_form(old: str, new: str, *, kept: bool) -> None:
    """Marks, citations, addresses, code, quotations and the closing mark stay as they are (C41)."""
    facts = ("Opened: 1913.", "It opened in 1913, see the list, with a=1, a=3, x = 1, x = 3, cost $5 and $6.")
    before = ("Verdane Bridge is old.",)
    free = replace(World(), old=old, contradicted=(), kept=(), before=before, nli=lambda *_: entails(), reference=facts)
    assert free.passes(new) is kept


def test_failures_are_raised() -> None:
    """A model without a usable result decides nothing."""

    def fail(*_: str) -> Probabilities:
        raise NliFailed("no number")

    with pytest.raises(NliFailed):
        World(nli=fail).passes(NEW)


def claim(text: str, sentence: str, *, quoted: bool = False) -> Claim:
    return Claim(text, Sentence(0, (0, len(sentence)), sentence, quoted=quoted))


SAID = 'Curie wrote: "The lab opened in 1931."'


@pytest.mark.parametrize(
    ("text", "sentence", "inside", "touching"),
    [
        ("The lab opened in 1931.", SAID, True, True),
        ("Curie wrote that the lab opened in 1931.", SAID, False, True),
        ("Curie wrote.", SAID, False, False),
        ("It was.", "It was, by then.", False, False),
        ("The lab opened in 1931.", "Curie wrote: “The lab opened in 1931. It was", True, True),
        ("The lab opened in 1931.", "The lab opened in 1931.” That is false.", True, True),
        ("Opened is 1931.", "The file says `opened = 1931` in it.", True, True),
        ("The pipe was laid in 1931.", 'The 5" pipe was laid in 1931.', False, False),
        ("Jaws came out in 1976.", 'The film "Jaws" came out in 1976.', False, True),
    ],
)
def test_quotations(text: str, sentence: str, *, inside: bool, touching: bool) -> None:
    """Nothing inside quotation marks or code is edited, nor is a quotation that goes on in another sentence."""
    said = claim(text, sentence)
    assert is_quotation(said) is inside
    assert touches_quotation(said) is touching


def test_block_quotes() -> None:
    """Nothing in a block quote is edited."""
    assert is_quotation(claim(WRONG, WRONG, quoted=True))
    assert not is_quotation(claim(WRONG, WRONG))


def test_quotations_of_a_draft() -> None:
    """Quotations may hold whole sentences; a stray mark or an inch sign does not turn the rest of a draft into one."""
    draft = 'He said: "It opened in 1931. It is long." A 5" pipe\n"and so on. «Oui. Non.» “x'
    assert [draft[start:end] for start, end in find_quotations(draft)] == [
        '"It opened in 1931. It is long."',
        "«Oui. Non.»",
    ]
