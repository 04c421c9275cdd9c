"""Passages that a model wrote about people, with every sentence judged by people: answers as they really come.

In: `llm_answers.jsonl`, of which the WikiBio passages by GPT-3 are taken; each has Wikipedia's text on the same person
as its reference. Out: `Answer`s split by the product's own `local`. A sentence is `false` where people marked it as
inaccurate; most of these are not contradicted by the reference but merely not in it, so that few can be found.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from evaluation.answers import Answer, Label, Statement, place_sentences
from proxy.claims.claim import Sentence
from proxy.claims.local import split_claims
from proxy.claims.markdown import plain_text
from proxy.claims.screening import screen_sentence
from proxy.claims.segment import split_sentences
from proxy.wording import find_nearest

SOURCE: Final = "wikibio_gpt3"
NEAREST_FACTS: Final = 4
"""Reference sentences that may say what is true instead of one sentence."""
_LABELS: Final[dict[str, Label]] = {"accurate": "true", "minor_inaccurate": "false", "major_inaccurate": "false"}


def read_passages(file: Path) -> list[Answer]:
    """Read all passages of a file; raises what a missing or other file raises."""
    rows = [json.loads(line) for line in file.read_bytes().splitlines() if SOURCE.encode() in line]
    return [_read_passage(row) for row in rows if row["source"] == SOURCE]


def _read_passage(row: Mapping[str, Any]) -> Answer:
    detail = row["detail"]
    reference = tuple(plain_text(sentence.text) for sentence in split_sentences(detail["reference"]))
    sentences = place_sentences(row["answer"], [judged["sentence"] for judged in detail["sentences"]])
    claims = split_claims([_screen(sentence) for sentence in sentences])
    statements = tuple(
        Statement(
            source=str(detail["wiki_bio_test_idx"]),
            sentence=sentence,
            claims=tuple(claim for claim in claims if claim.sentence.index == sentence.index),
            label=_LABELS[judged["label"]],
            evidence=tuple(reference[at] for at in find_nearest(sentence.text, reference, NEAREST_FACTS)),
        )
        for sentence, judged in zip(sentences, detail["sentences"], strict=True)
    )
    return Answer("wikibio", row["answer"], statements, reference)


def _screen(sentence: Sentence) -> Sentence:
    """Mark a sentence as the pipeline does before it is split."""
    return screen_sentence(sentence, cut=False, languages=frozenset({"en"})) or replace(sentence, states=False)
