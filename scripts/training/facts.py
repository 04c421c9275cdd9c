"""Pairs from made-up facts: a recalled fact against a claim that agrees, differs in one slot, or says another thing.

In: a random generator. Out: labelled pairs, short as recalls and claims are. It stands apart from `swaps` because
nothing real is said here: names are invented, so that only the premise can answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from training.relations import RELATIONS, Relation
from training.values import Random, draw, draw_other, make_name

ENTAILMENT: Final = "entailment"
NEUTRAL: Final = "neutral"
CONTRADICTION: Final = "contradiction"

NAMED: Final = {
    "person": "{person}", "film": "{name}", "book": "The {name}", "band": "The {name}s", "company": "{company}",
    "town": "{name}", "building": "{name} {thing}", "nature": "{land} {name}", "species": "The {name} {animal}",
    "event": "the {event} of {name}", "medicine": "{name}ol", "science": "{name} {number}", "dish": "{name}",
    "team": "{name} {club}",
}  # fmt: skip
PARTS: Final = {
    "thing": ("Bridge", "Tower", "Palace", "Cathedral", "Theatre", "Stadium", "Library", "Museum", "Hall", "Castle"),
    "land": ("Lake", "Mount", "the", "Cape", "Point"),
    "event": ("Battle", "Treaty", "Festival", "Siege", "Congress"),
    "club": ("United", "Rovers", "City", "Athletic", "Tigers", "Wanderers"),
    "number": ("I", "II", "7", "3", "12"),
}
AUXILIARIES: Final = re.compile(r" (is|was|are|were|has been|can|will) (?!not\b)")
PAST: Final = {
    "died": "die", "married": "marry", "won": "win", "received": "receive", "became": "become", "came": "come",
    "took": "take", "directed": "direct", "wrote": "write", "founded": "found", "designed": "design",
    "bought": "buy", "acquired": "acquire", "opened": "open", "happened": "happen", "sold": "sell",
    "discovered": "discover", "invented": "invent", "studied": "study", "attended": "attend", "scored": "score",
    "defeated": "defeat", "beat": "beat", "succeeded": "succeed", "taught": "teach", "invaded": "invade",
    "published": "publish", "produced": "produce", "earned": "earn", "lasted": "last", "finished": "finish",
}  # fmt: skip
PRESENT: Final = {
    "plays": "play", "speaks": "speak", "lives": "live", "eats": "eat", "lies": "lie", "works": "work",
    "stars": "star", "orbits": "orbit", "contains": "contain", "weighs": "weigh", "makes": "make", "comes": "come",
    "melts": "melt", "affects": "affect", "employs": "employ", "feeds": "feed", "leads": "lead", "stands": "stand",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled pair and where it is from."""

    premise: str
    hypothesis: str
    label: str
    source: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A relation of a subject with its value."""

    relation: Relation
    value: str

    def state(self, subject: str, rng: Random, value: str | None = None) -> str:
        """Put the fact, or the same with another value, into one of its wordings; no final stop."""
        said = value or self.value
        article = "an" if said[:1].lower() in "aeiou" else "a"
        wording = rng.choice(self.relation.wordings)
        return _capitalise(wording.format(s=subject, v=said, a=article))


def make_facts(rng: Random) -> Iterator[Example]:
    """Yield the pairs of one made-up subject, as many entailed as contradicted, without end of ideas."""
    kind = rng.choice(list(RELATIONS))
    subject = _name(kind, rng)
    relations = rng.sample(RELATIONS[kind], k=min(len(RELATIONS[kind]), 5))
    facts = [Fact(relation, draw(relation.slot, rng)) for relation in relations]
    stated, open_ = facts[: rng.choice((1, 1, 1, 2, 2, 3))], facts[3:]
    premise = _recall(subject, kind, stated, rng)
    chosen = rng.choice(stated)
    wrong = _find_decoy(chosen, stated, rng) or draw_other(chosen.relation.slot, chosen.value, rng)
    yield from _with_negation(premise, chosen.state(subject, rng), ENTAILMENT, rng)
    yield from _with_negation(premise, chosen.state(subject, rng, wrong), CONTRADICTION, rng)
    yield from _vary_value(premise, subject, chosen, rng)
    other = rng.choice(open_)
    if not _could_exclude(other, stated):
        yield Example(premise, end_sentence(other.state(subject, rng)), NEUTRAL, "facts_other")
    if rng.random() < 0.25:
        yield Example(premise, end_sentence(chosen.state(_name(kind, rng), rng)), NEUTRAL, "facts_other_subject")
    if rng.random() < 0.15:
        swapped = Fact(chosen.relation, wrong)
        facts_now = [swapped if fact is chosen else fact for fact in stated]
        claim = chosen.state(subject, rng)
        yield Example(_recall(subject, kind, facts_now, rng), end_sentence(claim), CONTRADICTION, "facts_premise")


def _find_decoy(chosen: Fact, stated: list[Fact], rng: Random) -> str | None:
    """Return a value of the same type that the premise gives to another relation, now and then."""
    same = [
        fact.value
        for fact in stated
        if fact is not chosen and fact.relation.slot == chosen.relation.slot and fact.value != chosen.value
    ]
    return rng.choice(same) if same and rng.random() < 0.7 else None


def _could_exclude(other: Fact, stated: list[Fact]) -> bool:
    """Return whether the other fact might clash with a stated one (two countries, two dates of birth)."""
    slots = {fact.relation.slot for fact in stated}
    near = {"country": {"nationality", "city", "country"}, "nationality": {"country", "nationality"},
            "year": {"year", "date"}, "date": {"year", "date"}, "city": {"country", "city"},
            "genre": {"genre"}, "colour": {"colour"}, "body": {"metres", "kilometres", "islands", "name"}}  # fmt: skip
    return bool(slots & near.get(other.relation.slot, {other.relation.slot}))


def _recall(subject: str, kind: str, facts: list[Fact], rng: Random) -> str:
    """Write facts as a recall would: one or more sentences, the later ones often with a pronoun."""
    pronoun = rng.choice(("He", "She")) if kind == "person" else "It"
    sentences = [facts[0].state(subject, rng)]
    for fact in facts[1:]:
        said = fact.state(subject, rng)
        if rng.random() < 0.6 and said.startswith(_capitalise(subject) + " "):
            said = pronoun + said[len(subject) :]
        sentences.append(said)
    if rng.random() < 0.2 and len(sentences) == 1:
        sentences[0] += rng.choice(
            (", according to the records", ", as is generally agreed", ", which is well documented")
        )
    return " ".join(map(end_sentence, sentences))


def _with_negation(premise: str, claim: str, label: str, rng: Random) -> Iterator[Example]:
    """Yield the pair; one time in eight its denial instead, which has the opposite label."""
    if rng.random() < 0.13 and (denied := negate(claim)):
        turned = CONTRADICTION if label == ENTAILMENT else ENTAILMENT
        yield Example(premise, end_sentence(denied), turned, "facts_negated")
    elif rng.random() < 0.06 and (denied := negate(premise)):
        if label == ENTAILMENT and premise.count(".") == 1:
            yield Example(denied, end_sentence(claim), CONTRADICTION, "facts_negated_premise")
    else:
        yield Example(premise, end_sentence(claim), label, "facts")


def _vary_value(premise: str, subject: str, fact: Fact, rng: Random) -> Iterator[Example]:
    """Yield pairs whose claim is looser or more exact than the premise."""
    if fact.relation.slot == "year" and rng.random() < 0.5:
        year = int(fact.value)
        near, far = year // 10 * 10, year // 10 * 10 + rng.choice((-30, -20, 20, 30))
        base = rng.choice(fact.relation.wordings)
        if " in {v}" in base:
            phrase, label = rng.choice((
                (f" in the {near}s", ENTAILMENT), (f" in the {far}s", CONTRADICTION),
                (f" before {year + rng.randint(2, 30)}", ENTAILMENT),
                (f" before {year - rng.randint(2, 30)}", CONTRADICTION),
                (f" after {year - rng.randint(2, 30)}", ENTAILMENT),
                (f" after {year + rng.randint(2, 30)}", CONTRADICTION),
                (f" in the {_ordinal((year - 1) // 100 + 1)} century", ENTAILMENT),
                (f" in the {_ordinal((year - 1) // 100 + rng.choice((0, 2)))} century", CONTRADICTION),
                (f" on {draw('month', rng)} {rng.randint(1, 28)}, {year}", NEUTRAL),
                (f" in {draw('month', rng)} {year}", NEUTRAL),
            ))  # fmt: skip
            claim = base.replace(" in {v}", phrase).format(s=subject, v=fact.value, a="a")
            yield Example(premise, end_sentence(_capitalise(claim)), label, "facts_loose")
    elif fact.relation.slot == "date" and rng.random() < 0.5:
        year_found = re.search(r"\d{4}", fact.value)
        if year_found:
            right = rng.random() < 0.5
            year_said = year_found[0] if right else draw_other("year", year_found[0], rng)
            claim = rng.choice(fact.relation.wordings).replace("on {v}", "in {v}").replace("On {v}", "In {v}")
            text = _capitalise(claim.format(s=subject, v=year_said, a="a"))
            yield Example(premise, end_sentence(text), ENTAILMENT if right else CONTRADICTION, "facts_loose")


def negate(sentence: str) -> str | None:
    """Return the denial of a simple sentence, or None where its verb is not one we know."""
    if AUXILIARIES.search(sentence):
        return AUXILIARIES.sub(_insert_not, sentence, count=1)
    words = sentence.split(" ")
    for index, word in enumerate(words[1:6], start=1):
        if word in PAST:
            denial = ["never", word] if len(sentence) % 3 == 0 else ["did", "not", PAST[word]]
            return " ".join([*words[:index], *denial, *words[index + 1 :]])
        if word in PRESENT:
            return " ".join([*words[:index], "does", "not", PRESENT[word], *words[index + 1 :]])
    return None


def _insert_not(found: re.Match[str]) -> str:
    """Put `not` behind the first word of an auxiliary."""
    first, _, rest = found[1].partition(" ")
    return f" {first} not {rest} " if rest else f" {first} not "


def _name(kind: str, rng: Random) -> str:
    """Name a subject of a kind."""
    parts = {name: rng.choice(choices) for name, choices in PARTS.items()}
    return NAMED[kind].format(
        person=draw("person", rng), company=draw("company", rng), name=make_name(rng), animal=draw("animal", rng),
        **parts,
    )  # fmt: skip


def _ordinal(number: int) -> str:
    """Write 19 as 19th."""
    ending = "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _capitalise(text: str) -> str:
    """Begin with a capital, leaving the rest."""
    return text[:1].upper() + text[1:]


def end_sentence(text: str) -> str:
    """End with a stop."""
    return text if text.endswith(".") else text + "."
