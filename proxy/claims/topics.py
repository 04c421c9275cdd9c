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
    chained: bool = False
    """The last sentence began with a pronoun for it; the same pronoun again goes on with it, whatever else it named."""
    owner: str = ""
    """The pronoun of "Its deck" that the last sentence began with; the same again goes on with it."""
    nouns: frozenset[str] = frozenset()
    """What it has been called: "This river" means it where it is a river."""

    def answers(self, pronoun: str, *, owner: bool = False) -> bool:
        """Tell whether a pronoun can mean this and nothing else; `owner` where it says whose something is."""
        if owner and pronoun == self.owner:
            return True
        if pronoun == "they":
            return self.plural and ((self.person_alone and self.thing_alone) or self.chained)
        if self.plural:
            return False
        if pronoun == "it":
            return self.thing is not False and (self.thing_alone or self.chained)
        if pronoun not in ("he", "she") or self.thing is True or self.gender not in ("", pronoun):
            return False
        return self.person_alone or (self.chained and self.gender == pronoun)

    def continued(self) -> Topic:
        """Return the topic of a sentence that begins with a pronoun for it."""
        return replace(self, chained=True, owner="")

    def obscured(self) -> Topic:
        """Return the topic once something has been said that is not understood, and may name others."""
        return replace(self, person_alone=False, thing_alone=False)

    def after(self, predicate: str) -> Topic:
        """Return the topic once this has been said of it."""
        said = read_predicate(predicate)
        return replace(
            self,
            thing=said.tells_thing() if self.thing is None else self.thing,
            nouns=self.nouns | said.kind,
            person_alone=self.person_alone and not said.may_name_person(),
            thing_alone=self.thing_alone and not said.may_name_thing(),
        )

    def after_own(self, owned: str, pronoun: str) -> Topic:
        """Return the topic once something was said of what it owns: after "Its deck is long", "it" may be the deck."""
        return replace(
            self,
            person_alone=self.person_alone and not read_predicate(f"has {owned}").may_name_person(),
            thing_alone=False,
            chained=False,
            owner=pronoun,
        )

    def succeeding(self, before: Topic | None) -> Topic:
        """Return this topic as it stands after another: two of a kind leave open which one a pronoun means."""
        if before is None or before.plural != self.plural:
            return self
        if _is_same(before.name, self.name) or self._names_kind_of(before):
            return replace(self, gender=before.gender, nouns=self.nouns | before.nouns)
        return replace(
            self,
            person_alone=self.person_alone and before.thing is True,
            thing_alone=self.thing_alone and before.thing is False,
        )

    def _names_kind_of(self, before: Topic) -> bool:
        """Tell whether this, like "The language", may be what was named before, of which no other kind is known."""
        first, *rest = self.name.lower().split(" ")
        of_things = first == "the" and len(rest) == 1 and rest[0] in words.THINGS
        return of_things and before.thing is not False and (rest[0] in before.nouns or not before.nouns & words.THINGS)


def open_topic(subject: Subject, predicate: str, before: Topic | None) -> Topic:
    """Make a topic of a sentence's subject."""
    said = read_predicate(predicate)
    if subject.kind == "definite":
        thing: bool | None = not any(word in words.PEOPLE for word in subject.text.lower().split(" "))
    else:
        thing = is_thing(subject.text) or said.tells_thing()
    plural = " and " in subject.text or said.verb in ("are", "were", "have")
    nouns = frozenset(subject.text.lower().split(" "))
    topic = Topic(subject.text, thing, plural=plural, nouns=nouns).succeeding(before)
    # An insertion may name others: "Marie Curie, the wife of Pierre Curie, was".
    return topic.after(f"is {subject.aside}") if subject.aside else topic


def is_thing(name: str) -> bool:
    """Tell whether a name is that of a thing: "Verdane Bridge", "University of Paris"."""
    return any(word.lower() in words.THINGS for word in name.split(" "))


def _is_same(one: str, other: str) -> bool:
    """Tell whether one name is the end of the other: "Marie Curie" and "Curie", "Verdane Bridge" and "The bridge"."""
    ends = [name.lower().removeprefix("the ") for name in (one, other)]
    return f" {ends[0]}".endswith(f" {ends[1]}") or f" {ends[1]}".endswith(f" {ends[0]}")
