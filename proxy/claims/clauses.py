"""A plain sentence taken apart into statements that each stand alone.

In: one plain sentence whose pronoun, if any, is resolved. Out: its statements, made of its own words; the sentence
itself where taking it apart is not certainly right. It stands apart because it knows nothing of drafts or of what was
said before. Every rule asks for a named subject and words of `vocabulary`, so what is not listed stays whole.
"""

from __future__ import annotations

import re

from proxy.claims import vocabulary as words
from proxy.claims.claim import Span
from proxy.claims.predicates import Predicate, read_predicate, read_words, starts_object
from proxy.claims.subjects import find_subject

_SEPARATOR = re.compile(r"(?:,|;)? (?:and|but) (?:then )?|, ")
_CLAUSE_SEPARATOR = re.compile(r"; (?:and |but |however, )?|, (?:and|but) ")
_RELATIVE = re.compile(r"(?:who|which) (?=\S)")
_KIND = re.compile(r"(?:is|was) an? (?:[\w'’-]+ ){1,6}?(?=(?:who|that|which) )")
_QUOTE = re.compile(r"[\"“”«»]")


def split_clauses(text: str) -> list[str]:
    """Return the statements of a sentence in order, at least one."""
    if _QUOTE.search(text):
        return [text]
    for separator in _CLAUSE_SEPARATOR.finditer(text):
        first, second = text[: separator.start()], text[separator.end() :]
        if _stands_alone(first) and _stands_alone(second) and not set(read_words(second)) & words.POSSESSIVES:
            return [*_split_sentence(first), *split_clauses(second)]
    return _split_sentence(text)


def _stands_alone(clause: str) -> bool:
    """Tell whether a clause has a subject of its own and points at nothing outside it."""
    subject = find_subject(clause)
    if subject is None or not subject.is_known or subject.start:
        return False
    predicate = clause[subject.verb :]
    return (clause[0].isupper() or clause.startswith("the ")) and _is_closed(predicate) and not _points_back(predicate)


def _split_sentence(text: str) -> list[str]:
    """Take one clause apart at its subject's relative clause and at coordinated predicates."""
    subject = find_subject(text)
    if subject is None or not subject.is_known or subject.start:
        return [text]
    predicate = text[subject.verb :]
    if subject.aside:
        said = _read_relative(subject.aside)
        if said is None:
            return [text]
        return [f"{subject.text} {part}" for part in (said, *_split_predicate(predicate))]
    lead = text[: subject.verb]
    first, *others = _split_kind(predicate)
    parts = _split_predicate(first) if not others else [first]
    return [f"{lead}{parts[0]}", *(f"{subject.text} {part}" for part in (*parts[1:], *others))]


def _read_relative(aside: str) -> str | None:
    """Return what an insertion like "who was born in Warsaw" says of the subject; None where it says more."""
    relative = _RELATIVE.match(aside)
    said = aside[relative.end() :] if relative else ""
    group = read_predicate(said)
    if group.verb not in words.FINITE - words.MODALS or not _is_closed(said) or _points_back(said) or ", " in said:
        return None
    return said


def _split_kind(predicate: str) -> list[str]:
    """Split "was a physicist who studied radium" in two; without a preposition before "who", it is the subject."""
    kind = _KIND.match(predicate)
    if kind is None:
        return [predicate]
    noun = kind.group().rstrip()
    said = predicate[kind.end() :].split(" ", 1)[1]
    group = read_predicate(said)
    singular = group.verb in words.FINITE - words.MODALS - {"are", "were", "have"}
    if not singular or set(noun.split(" ")) & words.PREPOSITIONS or not _is_closed(said) or _points_back(said):
        return [predicate]
    return [noun, *_split_predicate(said)]


def _split_predicate(predicate: str) -> list[str]:
    """Split coordinated predicates: "was born in Warsaw and won two prizes"."""
    group = read_predicate(predicate)
    if group.verb not in words.FINITE - words.MODALS:
        return [predicate]
    places = _find_splits(predicate, group)
    # A comma alone is a coordination only where a later "and" closes the list.
    while places and predicate[slice(*places[-1])] == ", ":
        places.pop()
    starts = [0, *(end for _, end in places)]
    ends = [*(start for start, _ in places), len(predicate)]
    parts = [predicate[start:end] for start, end in zip(starts, ends, strict=True)]
    shared = group.verb if group.is_passive and group.verb in ("was", "were") else ""
    return [parts[0], *(_complete(part, shared) for part in parts[1:])]


def _find_splits(predicate: str, first: Predicate) -> list[Span]:
    """Return the separators after which another predicate of the same subject starts, up to a doubtful place."""
    places: list[Span] = []
    start, before = 0, first
    for separator in _SEPARATOR.finditer(predicate):
        said, tail = predicate[: separator.start()], predicate[separator.end() :]
        if not _is_closed(said) or said.count("(") != said.count(")"):
            break
        group = read_predicate(tail)
        if _starts_predicate(group, before, first) and _is_complete(said[start:], before):
            if _points_back(tail):
                break
            places.append(separator.span())
            start, before = separator.end(), group
        elif separator.group() == ", " and (group.verb in words.FINITE or group.verb.endswith("ed")):
            # Perhaps the middle of a list of predicates: what comes before and after it belongs together.
            return []
    return places


def _starts_predicate(group: Predicate, before: Predicate, first: Predicate) -> bool:
    """Tell whether a verb must have the same subject as the one before it."""
    if group.verb in words.BE:
        return (group.verb in ("is", "was")) == (first.verb not in ("are", "were"))
    if group.verb in words.AUXILIARIES | words.PLAIN_PAST:
        return True
    if group.verb in words.PRESENT:
        return before.verb in words.PRESENT | {"is", "has"} or group.following in words.DETERMINERS
    if group.verb in words.TRANSITIVE_PAST and starts_object(group.following):
        return True
    if first.is_passive and group.verb in words.PASSIVE:
        shares = first.verb in ("was", "were") or group.verb in words.SELF_STANDING
        return shares and (not group.following or group.following in words.PREPOSITIONS)
    return group.verb in words.INTRANSITIVE_PAST and group.following != "by"


def _complete(part: str, shared: str) -> str:
    """Give a participle the "was" that it shares with the first one."""
    group = read_predicate(part)
    if shared and group.verb in words.PASSIVE and not starts_object(group.following):
        return f"{shared} {part}"
    return part


def _is_closed(text: str) -> bool:
    """Tell whether nothing in a predicate reaches over what follows it: no clause within, no negation, no "both"."""
    parts = read_words(text)
    if any(word in words.SUBORDINATORS or word in words.NEGATIONS or word.endswith(("n't", "n’t")) for word in parts):
        return False
    clause = next((place for place, word in enumerate(parts) if word in words.PREPOSITION_OR_CLAUSE), len(parts))
    return not any(word in words.FINITE for word in parts[clause + 1 :])


def _is_complete(head: str, group: Predicate) -> bool:
    """Tell whether a predicate says something by itself: more than its verb, and no word left hanging."""
    parts = read_words(head)
    return len(parts) > group.verb_length and parts[-1] not in words.PREPOSITIONS | words.OBJECT_STARTERS | {
        "to",
        "not",
    }


def _points_back(text: str) -> bool:
    return any(word in words.BACKWARD for word in read_words(text))
