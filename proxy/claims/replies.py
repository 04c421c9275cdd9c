"""Reading a decomposition reply, however the model dressed it up (contract, section 10).

In: the text of a reply. Out: `ReadReply`. Models put JSON into fences, prose and reasoning tags, forget commas and
numbers, or are cut; what is whole is taken, and a cut is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import json_repair

from proxy.errors import LlmCallFailed

_REASONING: Final = re.compile(r"<(think|thinking)>.*?(</\1>|$)", re.DOTALL)
_OPENERS: Final = {"{": "}", "[": "]"}


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
    for source, cut in _find_values(_REASONING.sub("", text)):
        read = _as_reply(json_repair.loads(source), cut=cut)
        if read is not None:
            return read
    raise LlmCallFailed("The decomposition reply holds no claims in a form that can be read.")


def _as_reply(value: object, *, cut: bool) -> ReadReply | None:
    """Return the value as a reply, or None where it is something else in brackets."""
    stated = value.get("claims") if isinstance(value, dict) else value
    if not isinstance(stated, list):
        return None
    claims = [claim for claim in map(_as_claim, stated) if claim is not None]
    # Brackets in prose hold other things than texts; a mended stretch without a claim may be prose too.
    if len(claims) < len(stated) if isinstance(value, list) else stated and not claims:
        return None
    if cut and not claims:
        return None
    none = value.get("none") if isinstance(value, dict) else None
    numbers = frozenset(n for n in map(_as_number, none) if n is not None) if isinstance(none, list) else None
    said = tuple((number, " ".join(text.split())) for number, text in claims if text.strip())
    return ReadReply(said, numbers, cut)


def _as_claim(item: object) -> tuple[int | None, str] | None:
    if isinstance(item, str):
        return None, item
    if isinstance(item, dict) and isinstance(item.get("text"), str):
        return _as_number(item.get("sentence")), item["text"]
    return None


def _as_number(value: object) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _find_values(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each outermost bracketed stretch of the text, mended where it was cut, and whether it was."""
    at = 0
    while (start := _next_opener(text, at)) is not None:
        end, whole_until, open_brackets = _walk(text, start)
        if end is None:
            closers = "".join(_OPENERS[bracket] for bracket in reversed(open_brackets))
            yield text[start:whole_until] + closers, True
            at = start + 1
        else:
            yield text[start:end], False
            at = end


def _next_opener(text: str, at: int) -> int | None:
    found = re.compile(r"[{\[]").search(text, at)
    return found.start() if found else None


def _walk(text: str, start: int) -> tuple[int | None, int, list[str]]:
    """Walk a bracketed stretch to its end.

    Returns:
        The end, None where it is missing; where the last whole item of a list ends; the brackets open there.
    """
    open_brackets: list[str] = []
    whole = (start + 1, [text[start]])
    in_string = False
    at = start
    while at < len(text):
        char = text[at]
        if in_string:
            if char == "\\":
                at += 1
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in _OPENERS:
            open_brackets.append(char)
        elif char in _OPENERS.values() and open_brackets:
            open_brackets.pop()
            if not open_brackets:
                return at + 1, at + 1, []
        at += 1
        if not in_string and open_brackets and open_brackets[-1] == "[" and char in '"]}[':
            whole = (at, list(open_brackets))
    return None, *whole
