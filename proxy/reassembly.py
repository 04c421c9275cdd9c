"""Putting the answer together again: edits into their spans, everything else byte for byte (contract, section 4).

In: the completion as it came, the edits of each choice, the report. Out: the completion's bytes. Pure. What is not
changed keeps the bytes that the upstream sent, down to number formats and escapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import Raw

from proxy.claims.claim import Span
from proxy.correction import Edit
from proxy.wire import Choice, Completion


@dataclass(frozen=True, slots=True)
class AppliedEdit:
    """An edit in place: `draft[draft_span] == before` and `text[span] == after`."""

    before: str
    after: str
    draft_span: Span
    span: Span


@dataclass(frozen=True, slots=True)
class EditedText:
    """The text parts with all edits applied."""

    parts: tuple[str, ...]
    edits: tuple[AppliedEdit, ...]


def apply_edits(choice: Choice, edits: Sequence[Edit]) -> EditedText:
    """Replace each edit's span in the draft; edits are disjoint and each lies within one part."""
    ordered = sorted(edits, key=lambda edit: edit.sentence.span)
    parts = list(choice.parts)
    # Back to front, so that the spans still ahead stay right.
    for edit in reversed(ordered):
        position, offset = _locate(choice.parts, edit.sentence.span)
        start, end = edit.sentence.span[0] - offset, edit.sentence.span[1] - offset
        parts[position] = parts[position][:start] + edit.after + parts[position][end:]
    applied = []
    shift = 0
    for edit in ordered:
        start, end = edit.sentence.span
        span = (start + shift, start + shift + len(edit.after))
        applied.append(AppliedEdit(choice.text[start:end], edit.after, (start, end), span))
        shift += len(edit.after) - (end - start)
    return EditedText(tuple(parts), tuple(applied))


def _locate(parts: Sequence[str], span: Span) -> tuple[int, int]:
    """Return which part a span lies in, and where that part begins."""
    offset = 0
    for position, part in enumerate(parts):
        if offset <= span[0] and span[1] <= offset + len(part):
            return position, offset
        offset += len(part)
    raise ValueError("the span does not lie within one text part")


def rebuild_completion(
    completion: Completion, edited: Mapping[int, Sequence[str]], verification: Mapping[str, Any]
) -> bytes:
    """Return the completion's bytes with new text parts and the report.

    Args:
        completion: as the upstream sent it.
        edited: by position in `choices`, the new text parts of the choices that were edited.
        verification: the one member that is added; an upstream's own member of that name gives way.
    """
    members = dict(completion.members)
    if edited:
        choices = [
            _rebuild_choice(choice, edited[position]) if position in edited else choice.members
            for position, choice in enumerate(completion.choices)
        ]
        members["choices"] = _raw(choices)
    members.pop("verification", None)
    return msgspec.json.encode(members | {"verification": _raw(verification)})


def _rebuild_choice(choice: Choice, parts: Sequence[str]) -> dict[str, Raw]:
    content: object = "".join(parts)
    if isinstance(choice.content, list):
        texts = iter(parts)
        raw_parts = msgspec.json.decode(choice.message["content"], type=list[Raw])
        content = [
            _replace_text(raw, next(texts)) if choice.is_text_part(position) else raw
            for position, raw in enumerate(raw_parts)
        ]
    rebuilt = dict(choice.members) | {"message": _raw(dict(choice.message) | {"content": _raw(content)})}
    # The tokens of the draft are no longer those of the text.
    return rebuilt | {"logprobs": Raw(b"null")} if choice.has_logprobs else rebuilt


def _replace_text(part: Raw, text: str) -> Raw:
    members = msgspec.json.decode(part, type=dict[str, Raw])
    return part if msgspec.json.decode(members["text"]) == text else _raw(members | {"text": _raw(text)})


def _raw(value: object) -> Raw:
    return Raw(msgspec.json.encode(value))
