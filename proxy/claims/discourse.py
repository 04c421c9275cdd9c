"""What the pronoun that a sentence starts with stands for.

In: plain sentences, one after another, and the headings above them. Out: the sentence with its pronoun replaced by the
name that alone can be meant; the sentence as it is where that is not sure, since a wrong name would make a false claim
of a true one. It stands apart because it alone remembers what was said before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from proxy.claims import vocabulary as words
from proxy.claims.subjects import find_subject
from proxy.claims.topics import Topic, is_thing, open_topic

_CONTRACTION = re.compile(r"((?:he|she|it)(?=['’]s )|they(?=['’]re ))['’](?:s|re) (?=(\w*))", re.IGNORECASE)
_EXPLETIVE = re.compile(
    r"it (?:is|was|takes|took|has been)\b.*\b(?:that|to|whether|who|when)\b|it (?:rain|snow)", re.IGNORECASE
)
_OWNERS: Final = {"his": "he", "her": "she", "its": "it", "their": "they"}


class Discourse:
    """Remembers the topic from sentence to sentence."""

    def __init__(self) -> None:
        """Start where nothing has been said."""
        self._topic: Topic | None = None
        self._heading: str | None = None
        self._continues = False

    def enter_section(self, heading: str | None) -> None:
        """Begin a section, unless it has begun: its heading is the topic where it names a thing."""
        if heading == self._heading:
            return
        self._heading, self._topic = heading, None
        if heading and is_thing(heading) and not is_section(heading):
            self._topic = Topic(heading, thing=True)

    def lose_topic(self) -> None:
        """Forget the topic: something was said that is not followed."""
        self._topic = None

    def resolve(self, text: str) -> str:
        """Return a plain sentence with the pronoun of its subject replaced where one name alone can be meant."""
        text = _expand_contraction(text)
        subject = find_subject(text)
        self._continues = False
        if subject is None or subject.is_known or _EXPLETIVE.match(text, subject.start):
            return text
        first = subject.text.split(" ", 1)[0].lower()
        pronoun = _OWNERS.get(first, first)
        topic = self._topic
        if topic is None or not topic.answers(pronoun):
            return text
        self._continues = subject.kind == "pronoun"
        if pronoun in ("he", "she"):
            self._topic = replace(topic, gender=pronoun)
        name = topic.name if self._continues else f"{topic.name}'s"
        if subject.start and name.startswith("The "):
            name = f"the {name[4:]}"
        return f"{text[: subject.start]}{name}{text[subject.start + len(first) :]}"

    def follow(self, statements: Sequence[str]) -> None:
        """Take note of what the resolved sentence states: where that has one subject, it is the topic of the next."""
        before = self._topic
        topic = before if self._continues else None
        self._topic = None
        for statement in statements:
            subject = find_subject(statement)
            if subject is None or not subject.is_known:
                return
            if topic is None:
                topic = open_topic(subject, statement[subject.verb :], before)
            elif subject.text.casefold() != topic.name.casefold():
                return
            topic = topic.after(statement[subject.verb :])
        self._topic = topic


def is_section(heading: str) -> bool:
    """Tell whether a heading names a section (History, Key facts) rather than what the answer is about."""
    return any(word.lower().strip(":,&") in words.SECTION_TITLES for word in heading.split())


def _expand_contraction(text: str) -> str:
    """Write "It's" out at the start of a sentence."""
    found = _CONTRACTION.match(text)
    if found is None:
        return text
    verb = "are" if found[1].lower() == "they" else "has" if found[2] in ("been", "had", "got", "become") else "is"
    return f"{found[1]} {verb} {text[found.end() :]}"
