"""Models that several tests export, made once, and labelled pairs."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from export.tiny_models import make_bert, make_deberta, make_roberta, save_model


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of a tiny model of each architecture."""
    makers = {"deberta": make_deberta, "bert": make_bert, "roberta": make_roberta}
    return {name: save_model(make(), tmp_path_factory.mktemp(name)) for name, make in makers.items()}


@pytest.fixture(scope="session")
def pairs_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of labelled pairs; what labels they bear does not matter to random models."""
    words = ("long", "short", "red", "old")
    file = tmp_path_factory.mktemp("pairs") / "pairs.jsonl"
    lines = [
        {"premise": f"the bridge is {first} .", "hypothesis": f"the bridge is not {second} .", "label": "neutral"}
        for first, second in product(words, words)
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file
