"""The one that a stretch of text is about, as far as pronouns can mean it.

In: a subject, what is said of it, and the topic before. Out: a `Topic` that knows which pronouns can mean it and
nothing else. It stands apart because here lies the care against a wrong name: in doubt it answers to no pronoun.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from proxy.claims import vocabulary as words
from proxy.claims.predicates import read_predicate
from proxy.claims.subjects import Subject


@dataclass(frozen=True, slots=True)
class Topic:
    """Who or what the last sentences are about."""

    name: str
    thing: bool | None
    """False for a person, None where the text does not show it."""
    plural: bool = False
    gender: str = ""
    """"he" or "she", once the text has used one."""
    person_alone: bool = True
    """No other person has been named since."""
    thing_alone: bool = True
    """No other thing has been named since."""

    def answers(self, pronoun: str) -> bool:
        """Tell whether a pronoun can mean this and nothing else."""
        if pronoun == "they":
            return self.plural and self.person_alone and self.thing_alone
        if self.plural:
            return False
        if pronoun == "it":
            return self.thing is True and self.thing_alone
        return self.thing is not True and self.person_alone and self.gender in ("", pronoun)

    def after(self, predicate: str) -> Topic:
        """Return the topic once this has been said of it."""
        said = read_predicate(predicate)
        return replace(
            self,
            person_alone=self.person_alone and not said.may_name_person(),
            thing_alone=self.thing_alone and not said.may_name_thing(),
        )

    def succeeding(self, before: Topic | None) -> Topic:
        """Return this topic as it stands after another: two of a kind leave open which one a pronoun means."""
        if before is None or before.plural != self.plural:
            return self
        if _is_same(before.name, self.name):
            return replace(self, gender=before.gender)
        return replace(
            self,
            person_alone=self.person_alone and before.thing is True,
            thing_alone=self.thing_alone and before.thing is False,
        )


def open_topic(subject: Subject, predicate: str, before: Topic | None) -> Topic:
    """Make a topic of a sentence's subject."""
    said = read_predicate(predicate)
    if subject.kind == "definite":
        thing: bool | None = not any(word in words.PEOPLE for word in subject.text.lower().split(" "))
    else:
        thing = is_thing(subject.text) or said.tells_thing()
    plural = " and " in subject.text or said.verb in ("are", "were", "have")
    topic = Topic(subject.text, thing, plural=plural).succeeding(before)
    # An insertion may name others: "Marie Curie, the wife of Pierre Curie, was".
    return topic.after(f"is {subject.aside}") if subject.aside else topic


def is_thing(name: str) -> bool:
    """Tell whether a name is that of a thing: "Verdane Bridge", "University of Paris"."""
    return any(word.lower() in words.THINGS for word in name.split(" "))


def _is_same(one: str, other: str) -> bool:
    """Tell whether one name is the end of the other: "Marie Curie" and "Curie", "Verdane Bridge" and "The bridge"."""
    ends = [name.lower().removeprefix("the ") for name in (one, other)]
    return f" {ends[0]}".endswith(f" {ends[1]}") or f" {ends[1]}".endswith(f" {ends[0]}")
