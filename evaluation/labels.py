"""Labelled sentences for the decomposition (`data/claims.jsonl`; its README says how they were labelled).

In: the file. Out: documents, each with its sentences in order and the claims that each of them states. Apart from the
measure so that whatever is measured on them reads them alike.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

DATA: Final = Path(__file__).parent / "data"
CLAIMS: Final = DATA / "claims.jsonl"


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """One sentence of a draft, and what it states."""

    id: str
    context: str
    """The draft before it."""
    text: str
    claims: tuple[str, ...]
    """Empty where it states nothing that can be checked."""

    def holds(self, at: int) -> bool:
        """Tell whether an offset of the draft lies within the sentence."""
        return len(self.context) <= at < len(self.context) + len(self.text)


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    """One draft."""

    id: str
    domain: str
    language: str
    held_out: bool
    """Never looked at while rules were written."""
    aliases: tuple[tuple[str, ...], ...]
    """Groups of names that mean the same in it."""
    sentences: tuple[LabelledSentence, ...]

    @property
    def draft(self) -> str:
        """The whole text."""
        last = self.sentences[-1]
        return last.context + last.text


def read_documents(path: Path = CLAIMS) -> list[LabelledDocument]:
    """Return the documents of a file in its order.

    Raises:
        ValueError: the sentences of a document do not follow each other.
    """
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    return [_make_document(list(group)) for _, group in groupby(lines, key=lambda line: line["document"])]


def _make_document(lines: list[dict[str, Any]]) -> LabelledDocument:
    first = lines[0]
    sentences = [
        LabelledSentence(line["id"], line["context"], line["sentence"], tuple(line["claims"])) for line in lines
    ]
    before = ""
    for sentence in sentences:
        if not sentence.context.startswith(before):
            raise ValueError(f"{sentence.id}: its context does not hold the sentences before it")
        before = sentence.context + sentence.text
    aliases = tuple(tuple(group) for group in first["aliases"])
    return LabelledDocument(
        first["document"], first["domain"], first["language"], first["held_out"], aliases, tuple(sentences)
    )
