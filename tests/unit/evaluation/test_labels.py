"""The labelled set: large and broad enough, and sound."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from evaluation.agreement import compare_claims
from evaluation.labels import CLAIMS, LabelledDocument, read_documents

DOCUMENTS = read_documents()
DOMAINS = {"biography", "history", "science", "law", "medicine", "list", "quote", "hedge", "negation", "number"}


def test_size() -> None:
    """At least 130 sentences, 12 of them Korean and 10 German or Spanish, a third of the documents held out."""
    languages = Counter(document.language for document in DOCUMENTS for _ in document.sentences)
    assert languages.total() >= 130
    assert languages["ko"] >= 12
    assert languages["de"] + languages["es"] >= 10
    assert sum(document.held_out for document in DOCUMENTS) >= len(DOCUMENTS) // 3
    assert {document.domain for document in DOCUMENTS} >= DOMAINS


def test_names_are_unique() -> None:
    """A sentence can be spoken of by its name."""
    names = [sentence.id for document in DOCUMENTS for sentence in document.sentences]
    assert len(names) == len(set(names))
    assert len({document.id for document in DOCUMENTS}) == len(DOCUMENTS)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.id)
def test_sentences_stand_in_their_draft(document: LabelledDocument) -> None:
    """Each is found at its place, and knows it."""
    for sentence in document.sentences:
        at = len(sentence.context)
        assert document.draft[at : at + len(sentence.text)] == sentence.text
        assert [other.id for other in document.sentences if other.holds(at)] == [sentence.id]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.id)
def test_labels_agree_with_themselves(document: LabelledDocument) -> None:
    """The right claims are all right, and each covers itself and no other."""
    for sentence in document.sentences:
        agreement = compare_claims(sentence.claims, sentence.claims, document.aliases)
        assert all(agreement.alone)
        assert all(agreement.right)
        assert not any(agreement.compound)


def test_a_broken_document_is_refused(tmp_path: Path) -> None:
    """A sentence whose context leaves out the one before cannot be measured."""
    lines = [json.loads(line) for line in CLAIMS.read_text(encoding="utf-8").splitlines()[:2]]
    lines[1]["context"] = ""
    path = tmp_path / "claims.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with pytest.raises(ValueError, match=r"bio-lorne\.2"):
        read_documents(path)
