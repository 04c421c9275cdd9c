"""What the pronoun that a sentence starts with stands for.

In: plain sentences, one after another, and the headings above them. Out: the sentence with its pronoun replaced by the
name that alone can be meant; the sentence as it is where that is not sure, since a wrong name would make a false claim
of a true one. It stands apart because it alone remembers what was said before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from proxy.claims import vocabulary as words
from proxy.claims.pronouns import Pointer, find_named_kind, find_pointer
from proxy.claims.subjects import find_subject
from proxy.claims.topics import Topic, is_thing, open_topic

_CONTRACTION = re.compile(r"((?:he|she|it)(?=['’]s )|they(?=['’]re ))['’](?:s|re) (?=(\w*))", re.IGNORECASE)
_NAME = re.compile(r"(?:\bthe )?\b[A-Z][\w.-]*(?: (?:(?:of|the|de|von|van|du|la) )*(?:[A-Z][\w.-]*|\d+))*")
_DETERMINED = re.compile(r"\b(?:the|an?|this|that|these|those|your|my|our)\b", re.IGNORECASE)
_PRONOUN = re.compile(r"\b(?:he|she|it|they|him|her|them|his|its|their)\b", re.IGNORECASE)


class Discourse:
    """Remembers the topic from sentence to sentence."""

    def __init__(self) -> None:
        """Start where nothing has been said."""
        self._topic: Topic | None = None
        self._heading: str | None = None
        self._pointer: Pointer | None = None

    def enter_section(self, heading: str | None) -> None:
        """Begin a section, unless it has begun: its heading is the topic where it names a thing."""
        if heading == self._heading:
            return
        self._heading = heading
        self.return_to_heading()

    def return_to_heading(self) -> None:
        """Make the heading the topic, where it names a thing; else there is none."""
        heading = self._heading
        named = heading is not None and is_thing(heading) and not is_section(heading)
        self._topic = Topic(heading, thing=True) if heading is not None and named else None

    def lose_topic(self) -> None:
        """Forget the topic: something was said that is not followed."""
        self._topic = None

    def hear_question(self, text: str) -> None:
        """Take note of a question, or of what a list is about: its only name is the topic of what follows."""
        names = list(dict.fromkeys(_NAME.findall(text.partition(" ")[2])))
        if len(names) == 1 and f"{names[0]}'s" not in text.replace("’", "'"):
            name = names[0][0].upper() + names[0][1:]
            self._topic = Topic(name, is_thing(name) or None)
        elif names or _DETERMINED.search(text) or not _PRONOUN.search(text):
            self._topic = None

    def resolve(self, text: str) -> str:
        """Return a plain sentence with the word that points out of it replaced where one name alone can be meant."""
        text = _expand_contraction(text)
        topic = self._topic
        pointer = find_pointer(text) or (find_named_kind(text, topic.nouns) if topic else None)
        self._pointer = None
        if pointer is None or topic is None or not topic.answers(pointer.pronoun, owner=pointer.owner):
            return text
        self._pointer = pointer
        if pointer.pronoun in ("he", "she"):
            self._topic = replace(topic, gender=pointer.pronoun)
        start, end = pointer.span
        name = f"{topic.name}'s" if pointer.owner else topic.name
        if start and name.startswith("The "):
            name = f"the {name[4:]}"
        return f"{text[:start]}{name}{text[end:]}"

    def follow(self, statements: Sequence[str]) -> None:
        """Take note of what the resolved sentence states: where that has one subject, it is the topic of the next."""
        before, pointer = self._topic, self._pointer
        self._topic = None
        if before is not None and pointer is not None and pointer.owner:
            self._topic = before.after_own(statements[0].partition("'s ")[2], pointer.pronoun)
            return
        topic = before.continued() if before is not None and pointer is not None and pointer.subject else None
        for statement in statements:
            subject = find_subject(statement)
            if subject is None or not subject.is_known:
                # Of a topic that goes on, only what else was named is unknown.
                self._topic = None if topic is None or len(statements) > 1 else topic.obscured()
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
