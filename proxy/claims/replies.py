"""Reading a decomposition reply, however the model dressed it up (contract, section 10).

In: the text of a reply. Out: `ReadReply`. Models put JSON into fences, prose and reasoning tags, add commas, leave out
numbers, or are cut; what is whole is taken, and a cut is reported. Nothing is guessed beyond that, and time is linear:
libraries that mend any JSON make claims of bracketed prose, and take seconds over a reply that repeats itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from proxy.errors import LlmCallFailed

_REASONING: Final = re.compile(r"\s*<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)
_OPENING: Final = re.compile(r"\{(?=\s*\")|\[(?=\s*[\"{\]])")
"""A bracket that may open the JSON; one in prose ({see below}) is passed over."""
_MARK: Final = re.compile(r"\"(?:[^\"\\]|\\.)*(?P<closed>\")?|[{}\[\]]", re.DOTALL)
_NEEDLESS_COMMA: Final = re.compile(r"(\"(?:[^\"\\]|\\.)*\")|,(?=\s*[,}\]])", re.DOTALL)
_CLOSERS: Final = {"{": "}", "[": "]"}
_MOST_TRIED: Final = 8
"""Bracketed stretches that are looked at."""


@dataclass(frozen=True, slots=True)
class ReadReply:
    """What a reply says: claims with the number of their sentence, and the sentences without a claim."""

    claims: tuple[tuple[int | None, str], ...]
    none: frozenset[int] | None
    """None where the reply has no such list."""
    cut: bool
    """The reply ended inside the JSON; only what is whole was taken."""


def read_reply(text: str) -> ReadReply:
    """Return the first thing in the text that has the form of a decomposition.

    Raises:
        LlmCallFailed: there is none.
    """
    for source, cut in islice(_find_values(drop_reasoning(text)), _MOST_TRIED):
        read = _as_reply(_load(source), cut=cut)
        if read is not None:
            return read
    raise LlmCallFailed("The decomposition reply holds no claims in a form that can be read.")


def drop_reasoning(text: str) -> str:
    """Return a reply without the reasoning that some models put before it."""
    found = _REASONING.match(text)
    return text[found.end() :] if found else text


def _load(source: str) -> object:
    try:
        return json.loads(_NEEDLESS_COMMA.sub(lambda found: found[1] or "", source), strict=False)
    except (ValueError, RecursionError):  # RecursionError: brackets too deep to be meant
        return None


def _as_reply(value: object, *, cut: bool) -> ReadReply | None:
    """Return the value as a reply, or None where it is something else in brackets."""
    stated, none = (value.get("claims"), value.get("none")) if isinstance(value, dict) else (value, None)
    if not isinstance(stated, list):
        return None
    claims = [claim for claim in map(_as_claim, stated) if claim is not None]
    # A list of other things is no list of claims; an empty one says that there is none, unless more was to come.
    if not claims and (stated or cut):
        return None
    numbers = frozenset(n for n in map(_as_number, none) if n is not None) if isinstance(none, list) else None
    return ReadReply(tuple((number, text) for number, text in claims if text), numbers, cut)


def _as_claim(item: object) -> tuple[int | None, str] | None:
    if isinstance(item, str):
        return None, _tidy(item)
    if isinstance(item, dict) and isinstance(item.get("text"), str):
        return _as_number(item.get("sentence")), _tidy(item["text"])
    return None


def _tidy(text: str) -> str:
    """Join the lines; half a character, which JSON can escape but no encoding carries, becomes a question mark."""
    return " ".join(text.split()).encode("utf-8", "replace").decode("utf-8")


def _as_number(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _find_values(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each outermost bracketed stretch of the text, mended where it was cut, and whether it was."""
    at = 0
    while opening := _OPENING.search(text, at):
        start = opening.start()
        end, missing = _walk(text, start)
        yield text[start:end] + missing, bool(missing)
        # What seems cut may be a bracket left open in prose, with the reply inside.
        at = opening.end() if missing else end


def _walk(text: str, start: int) -> tuple[int, str]:
    """Walk a bracketed stretch to its end, or to the end of its last whole item where it is cut.

    Returns:
        That end, and the brackets missing there.
    """
    stack: list[str] = []
    whole = (start, 1)
    for mark in _MARK.finditer(text, start):
        kind = mark.group()
        if kind in _CLOSERS:
            stack.append(_CLOSERS[kind])
        elif kind == stack[-1]:
            stack.pop()
            if not stack:
                return mark.end(), ""
        elif mark["closed"] is None:  # a string without its end, or the wrong bracket
            break
        # A key or a bare value may belong to an item that is not whole; what a bracket closes always is.
        if kind in _CLOSERS.values() or stack[-1] == "]":
            whole = (mark.end(), len(stack))
    # Since then brackets were only opened, so that those open there are the outermost of those open now.
    end, depth = whole
    return end, "".join(reversed(stack[:depth]))
