"""The user's labelled examples: answers of their own domain, whose claims people have judged.

In: a JSONL file, one answer a line, in one of two forms:

    {"reference": "What is true.", "claims": [{"claim": "One statement.", "label": "true"}, ...]}
    {"reference": "What is true.", "claim": "The only statement.", "label": "false"}

Out: `Example`s, or `ExamplesInvalid` naming the line. A claim is `true` or `false` by what people know, or `open` where
the reference does not tell. Claims of one answer stand together, because k is about their spread.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import msgspec

from proxy.claims.claim import Claim, Sentence
from proxy.claims.markdown import plain_text
from proxy.claims.segment import split_sentences
from proxy.errors import ExamplesInvalid

Label = Literal["true", "false", "open"]

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Example:
    """One answer: its claims, what people say of each, and the sentences it is held against."""

    claims: tuple[Claim, ...]
    labels: tuple[Label, ...]
    """In the order of the claims."""
    reference: tuple[str, ...]


class _LabelledClaim(msgspec.Struct, forbid_unknown_fields=True):
    claim: str
    label: Label


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    reference: str
    claims: list[_LabelledClaim] = msgspec.field(default_factory=list)
    claim: str | None = None
    label: Label | None = None


def read_examples(file: Path) -> list[Example]:
    """Read a file of examples; blank lines are left out.

    Raises:
        ExamplesInvalid: the file cannot be read or has none, or a line is not of the form; the message names the line.
    """
    try:
        lines = file.read_bytes().removeprefix(_BYTE_ORDER_MARK).splitlines()
    except OSError as error:
        raise ExamplesInvalid(f"{file} cannot be read ({error.strerror})") from None
    examples = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                examples.append(_read_line(line))
            except ValueError as error:
                raise ExamplesInvalid(f"{file}, line {number}: {error}") from None
    if not examples:
        raise ExamplesInvalid(f"{file} has no examples; see `corrigenda calibrate --help` for their form")
    return examples


def _read_line(line: bytes) -> Example:
    """Read one line; `msgspec.ValidationError`, which names the place, is a `ValueError` too."""
    try:
        read = msgspec.json.decode(line, type=_Line)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError as error:
        raise ValueError(f"no JSON ({error})") from None
    claims = _claims_of(read)
    reference = tuple(plain_text(sentence.text) for sentence in split_sentences(read.reference))
    if not reference:
        raise ValueError("`reference` is empty")
    if not all(labelled.claim.strip() for labelled in claims):
        raise ValueError("a claim is empty")
    return Example(
        claims=tuple(_place(index, labelled.claim.strip()) for index, labelled in enumerate(claims)),
        labels=tuple(labelled.label for labelled in claims),
        reference=reference,
    )


def _claims_of(line: _Line) -> list[_LabelledClaim]:
    """Return the claims of a line in either form."""
    if line.claim is None and line.label is None:
        if not line.claims:
            raise ValueError("has neither `claims` nor `claim` and `label`")
        return line.claims
    if line.claim is None or line.label is None:
        raise ValueError("`claim` and `label` belong together")
    if line.claims:
        raise ValueError("has `claims` and `claim`; give one of them")
    return [_LabelledClaim(line.claim, line.label)]


def _place(index: int, text: str) -> Claim:
    """Return a claim that is a sentence of its own."""
    return Claim(text, Sentence(index, (0, len(text)), text))
